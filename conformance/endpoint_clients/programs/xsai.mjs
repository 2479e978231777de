// xsAI, the small one.
import { generateObject } from "@xsai/generate-object";
import { generateText } from "@xsai/generate-text";
import { streamText } from "@xsai/stream-text";
import { rawTool } from "@xsai/tool";
import { EVENT, Event, FLAKY, HELLO, REFUSED, WEATHER, getWeather, key, main, model, parameters, url, user } from "./asked.mjs";

const common = { apiKey: key, baseURL: `${url}/`, model };
const ask = async (text, more = {}) => (await generateText({ ...common, messages: user(text), ...more })).text;

await main({
  text: () => ask(HELLO),
  stream: async () => {
    const { textStream } = streamText({ ...common, messages: user(HELLO) });
    const found = [];
    for await (const piece of textStream) if (piece) found.push(piece);
    return found;
  },
  tool: () => ask(WEATHER, { maxSteps: 3, tools: [rawTool({ name: "get_weather", description: "Get the weather.", parameters, execute: getWeather })] }),
  structured: async () => (await generateObject({ ...common, messages: user(EVENT), schema: Event })).object,
  error: () => ask(REFUSED),
});
