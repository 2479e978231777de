// The adapter that Cline asks models with; it says a failure in its last chunk.
import { createHandler } from "@cline/llms";
import { FLAKY, HELLO, REFUSED, WEATHER, getWeather, key, main, model, parameters, url } from "./asked.mjs";

const handler = createHandler({ providerId: "openai-compatible", apiKey: key, baseUrl: url, modelId: model });
const tools = [{ name: "get_weather", description: "Get the weather.", inputSchema: parameters }];
const user = (...content) => ({ role: "user", content });
const text = (said) => ({ type: "text", text: said });

async function chunks(messages, tools) {
  const found = [];
  for await (const chunk of handler.createMessage("You are concise.", messages, tools)) found.push(chunk);
  const last = found.at(-1);
  if (!last.success) throw new Error(last.error);
  return found;
}
const pieces = async (...asked) => (await chunks(...asked)).filter(({ type }) => type === "text").map((one) => one.text);

await main({
  text: async () => (await pieces([user(text(HELLO))])).join(""),
  stream: () => pieces([user(text(HELLO))]),
  tool: async () => {
    const asked = user(text(WEATHER));
    const { tool_call } = (await chunks([asked], tools)).find(({ type }) => type === "tool_calls");
    const { call_id: id, function: { name, arguments: said } } = tool_call;
    const input = JSON.parse(said);
    const result = { type: "tool_result", tool_use_id: id, content: getWeather(input) };
    const called = { role: "assistant", content: [{ type: "tool_use", id, name, input }] };
    return (await pieces([asked, called, user(result)], tools)).join("");
  },
  error: () => chunks([user(text(REFUSED))]),
  retry: async () => (await pieces([user(text(FLAKY))])).join(""),
});
