// LangChain for JavaScript: `withStructuredOutput` by its methods, and `bindTools` with a forced call.

import { ChatOpenAICompletions, ChatOpenAIResponses } from "@langchain/openai";

import { Event, event, FirstTool, main, QUESTION, SecondTool } from "./structured.mjs";

const connect = (Model, { url, key, model }) =>
  new Model({ model, apiKey: key, maxRetries: 0, timeout: 20_000, configuration: { baseURL: url } });

const structured = (Model, method) => async (account) =>
  event(await connect(Model, account).withStructuredOutput(Event, { method, name: "event" }).invoke(QUESTION));

const tools = [
  { name: "FirstTool", description: "The first.", schema: FirstTool },
  { name: "SecondTool", description: "The second.", schema: SecondTool },
];

const called = (Model, choice) => async (account) => {
  const { tool_calls: calls } = await connect(Model, account).bindTools(tools, { tool_choice: choice }).invoke(QUESTION);
  return { calls: calls.map((call) => call.name) };
};

await main({
  "json-schema": structured(ChatOpenAICompletions, "jsonSchema"),
  "function-calling": structured(ChatOpenAICompletions, "functionCalling"),
  "responses-json-schema": structured(ChatOpenAIResponses, "jsonSchema"),
  "responses-function-calling": structured(ChatOpenAIResponses, "functionCalling"),
  required: called(ChatOpenAICompletions, "any"),
  named: called(ChatOpenAICompletions, "SecondTool"),
  // No "responses-required": of this surface it sends a choice by name alone, and drops every word.
  "responses-named": called(ChatOpenAIResponses, "SecondTool"),
});
