// The adapter that Continue asks models of OpenAI's with.
import { constructLlmApi } from "@continuedev/openai-adapters";
import { EVENT, Event, FLAKY, HELLO, REFUSED, key, loop, main, model, pieces, tool, url, user } from "./asked.mjs";

const api = constructLlmApi({ provider: "openai", apiKey: key, apiBase: `${url}/`, model });
const { signal } = new AbortController();
const ask = (messages, more = {}) => api.chatCompletionNonStream({ model, messages, ...more }, signal);

await main({
  text: async () => (await ask(user(HELLO))).choices[0].message.content,
  stream: () => pieces(api.chatCompletionStream({ model, messages: user(HELLO), stream: true }, signal)),
  tool: () => loop(async (messages) => (await ask(messages, { tools: [tool] })).choices[0].message),
  structured: async () => {
    const schema = { type: "object", properties: { name: { type: "string" }, day: { type: "integer" }, people: { type: "array", items: { type: "string" } } }, required: ["name", "day", "people"] };
    const format = { type: "json_schema", json_schema: { name: "event", schema } };
    return Event.parse(JSON.parse((await ask(user(EVENT), { response_format: format })).choices[0].message.content));
  },
  error: () => ask(user(REFUSED)),
  retry: async () => (await ask(user(FLAKY))).choices[0].message.content,
});
