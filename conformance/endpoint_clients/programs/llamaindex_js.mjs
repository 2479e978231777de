// LlamaIndex.TS, its model of OpenAI's.
import { OpenAI } from "@llamaindex/openai";
import { EVENT, Event, FLAKY, HELLO, REFUSED, WEATHER, getWeather, key, main, model, parameters, url, user } from "./asked.mjs";

const llm = (maxRetries = 0) => new OpenAI({ model, apiKey: key, baseURL: url, maxRetries });
const weather = { call: getWeather, metadata: { name: "get_weather", description: "Get the weather.", parameters } };

await main({
  text: async () => (await llm().chat({ messages: user(HELLO) })).message.content,
  stream: async () => {
    const found = [];
    for await (const chunk of await llm().chat({ messages: user(HELLO), stream: true })) if (chunk.delta) found.push(chunk.delta);
    return found;
  },
  tool: async () => {
    const messages = user(WEATHER);
    const { message } = await llm().chat({ messages, tools: [weather] });
    const [call] = message.options.toolCall;
    const result = getWeather(typeof call.input === "string" ? JSON.parse(call.input) : call.input);
    const answer = { role: "user", content: result, options: { toolResult: { id: call.id, result, isError: false } } };
    return (await llm().chat({ messages: [...messages, message, answer], tools: [weather] })).message.content;
  },
  structured: async () =>
    Event.parse(JSON.parse((await llm().chat({ messages: user(EVENT), responseFormat: Event })).message.content)),
  error: () => llm().chat({ messages: user(REFUSED) }),
  retry: async () => (await llm(2).chat({ messages: user(FLAKY) })).message.content,
});
