// LangChain for JavaScript, chat completions.
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { EVENT, Event, FLAKY, HELLO, REFUSED, WEATHER, getWeather, key, main, model, tool, url } from "./asked.mjs";

const chat = (maxRetries = 0) => new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: url }, maxRetries, useResponsesApi: false });

await main({
  text: async () => (await chat().invoke(HELLO)).content,
  stream: async () => {
    const found = [];
    for await (const chunk of await chat().stream(HELLO)) if (chunk.content) found.push(chunk.content);
    return found;
  },
  tool: async () => {
    const bound = chat().bindTools([tool]);
    const said = await bound.invoke(WEATHER);
    const [call] = said.tool_calls;
    const result = new ToolMessage({ content: getWeather(call.args), tool_call_id: call.id });
    return (await bound.invoke([new HumanMessage(WEATHER), said, result])).content;
  },
  structured: async () => chat().withStructuredOutput(Event).invoke(EVENT),
  error: () => chat().invoke(REFUSED),
  retry: async () => (await chat(2).invoke(FLAKY)).content,
});
