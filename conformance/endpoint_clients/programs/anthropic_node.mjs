// @anthropic-ai/sdk, Messages.
import Anthropic from "@anthropic-ai/sdk";
import { EVENT, Event, FLAKY, HELLO, REFUSED, WEATHER, getWeather, key, main, model, parameters, url, user } from "./asked.mjs";

const client = new Anthropic({ apiKey: key, baseURL: url.replace(/\/v1$/, ""), maxRetries: 0 });
const ask = (messages, more = {}, options = {}) => client.messages.create({ model, max_tokens: 100, messages, ...more }, options);
const tools = [{ name: "get_weather", description: "Get the weather.", input_schema: parameters }];
const event = { type: "object", properties: { name: { type: "string" }, day: { type: "integer" }, people: { type: "array", items: { type: "string" } } }, required: ["name", "day", "people"] };

await main({
  text: async () => (await ask(user(HELLO))).content[0].text,
  stream: async () => {
    const found = [];
    for await (const one of await ask(user(HELLO), { stream: true })) if (one.delta?.text) found.push(one.delta.text);
    return found;
  },
  tool: async () => {
    const { content } = await ask(user(WEATHER), { tools });
    const call = content.at(-1);
    const result = { type: "tool_result", tool_use_id: call.id, content: getWeather(call.input) };
    const said = [...user(WEATHER), { role: "assistant", content }, { role: "user", content: [result] }];
    return (await ask(said, { tools })).content[0].text;
  },
  structured: async () => {
    const asked = { tools: [{ name: "event", input_schema: event }], tool_choice: { type: "tool", name: "event" } };
    return Event.parse((await ask(user(EVENT), asked)).content[0].input);
  },
  error: () => ask(user(REFUSED)),
  retry: async () => (await ask(user(FLAKY), {}, { maxRetries: 2 })).content[0].text,
});
