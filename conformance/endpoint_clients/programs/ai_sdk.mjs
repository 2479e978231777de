// The AI SDK, on Responses.
import { createOpenAI } from "@ai-sdk/openai";
import { Output, generateText, jsonSchema, stepCountIs, streamText, tool as asTool } from "ai";
import { EVENT, Event, FLAKY, HELLO, REFUSED, WEATHER, getWeather, key, main, model, parameters, url } from "./asked.mjs";

const served = createOpenAI({ apiKey: key, baseURL: url })(model);
const ask = (prompt, more = {}) => generateText({ model: served, prompt, maxRetries: 0, ...more });
const weather = asTool({ description: "Get the weather.", inputSchema: jsonSchema(parameters), execute: getWeather });

await main({
  text: async () => (await ask(HELLO)).text,
  stream: async () => {
    const found = [];
    for await (const piece of streamText({ model: served, prompt: HELLO, maxRetries: 0 }).textStream) found.push(piece);
    return found;
  },
  tool: async () => (await ask(WEATHER, { tools: { get_weather: weather }, stopWhen: stepCountIs(3) })).text,
  structured: async () => (await ask(EVENT, { output: Output.object({ schema: Event }) })).output,
  error: () => ask(REFUSED),
  retry: async () => (await ask(FLAKY, { maxRetries: 2 })).text,
});
