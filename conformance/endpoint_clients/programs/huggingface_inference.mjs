// The client of Hugging Face for endpoints like OpenAI's.
import { InferenceClient } from "@huggingface/inference";
import { EVENT, Event, HELLO, REFUSED, key, loop, main, model, pieces, tool, url, user } from "./asked.mjs";

const client = new InferenceClient(key, { endpointUrl: url });
const ask = (messages, more = {}) => client.chatCompletion({ model, messages, ...more });

await main({
  text: async () => (await ask(user(HELLO))).choices[0].message.content,
  stream: () => pieces(client.chatCompletionStream({ model, messages: user(HELLO) })),
  tool: () => loop(async (messages) => (await ask(messages, { tools: [tool] })).choices[0].message),
  structured: async () => {
    const schema = { type: "object", properties: { name: { type: "string" }, day: { type: "integer" }, people: { type: "array", items: { type: "string" } } }, required: ["name", "day", "people"] };
    const format = { type: "json_schema", json_schema: { name: "event", schema } };
    return Event.parse(JSON.parse((await ask(user(EVENT), { response_format: format })).choices[0].message.content));
  },
  error: () => ask(user(REFUSED)),
});
