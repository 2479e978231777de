// The Agents SDK of OpenAI for JavaScript, on Responses.
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool as asTool } from "@openai/agents";
import OpenAI from "openai";
import { EVENT, Event, FLAKY, HELLO, REFUSED, WEATHER, getWeather, main, model, parameters } from "./asked.mjs";

setTracingDisabled(true);
const agent = (more = {}, maxRetries = 0) =>
  new Agent({ name: "tester", model: new OpenAIResponsesModel(new OpenAI({ maxRetries }), model), ...more });
const weather = asTool({ name: "get_weather", description: "Get the weather.", parameters: { ...parameters, additionalProperties: false }, strict: true, execute: getWeather });

await main({
  text: async () => (await run(agent(), HELLO)).finalOutput,
  stream: async () => {
    const found = [];
    for await (const piece of (await run(agent(), HELLO, { stream: true })).toTextStream()) found.push(piece);
    return found;
  },
  tool: async () => (await run(agent({ tools: [weather] }), WEATHER)).finalOutput,
  structured: async () => (await run(agent({ outputType: Event }), EVENT)).finalOutput,
  error: () => run(agent(), REFUSED),
  retry: async () => (await run(agent({}, 2), FLAKY)).finalOutput,
});
