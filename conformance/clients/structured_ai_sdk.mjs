// The AI SDK: `generateObject` and `streamObject` by both of its providers, and `toolChoice`.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, streamObject, tool } from "ai";

import { Event, event, FirstTool, main, QUESTION, SecondTool } from "./structured.mjs";

const chat = ({ url, key, model }) => createOpenAI({ baseURL: url, apiKey: key }).chat(model);
const responses = ({ url, key, model }) => createOpenAI({ baseURL: url, apiKey: key })(model);
// Without that it asks for a json_object and says json nowhere, which the API refuses.
const compatible = ({ url, key, model }) =>
  createOpenAICompatible({ name: "wireproof", baseURL: url, apiKey: key, supportsStructuredOutputs: true })(model);

const common = { prompt: QUESTION, maxRetries: 0 };
const tools = { FirstTool: tool({ inputSchema: FirstTool }), SecondTool: tool({ inputSchema: SecondTool }) };

const object = (connect) => async (account) =>
  event((await generateObject({ ...common, model: connect(account), schema: Event })).object);

const streamed = (connect) => async (account) => {
  const result = streamObject({ ...common, model: connect(account), schema: Event });
  for await (const _ of result.partialObjectStream);
  return event(await result.object);
};

const called = (connect, toolChoice) => async (account) => {
  const { toolCalls } = await generateText({ ...common, model: connect(account), tools, toolChoice });
  if (toolCalls.some((call) => call.invalid)) throw new Error(`invalid calls: ${JSON.stringify(toolCalls)}`);
  return { calls: toolCalls.map((call) => call.toolName) };
};

const named = { type: "tool", toolName: "SecondTool" };

await main({
  object: object(chat),
  "object-stream": streamed(chat),
  "responses-object": object(responses),
  "responses-object-stream": streamed(responses),
  "compatible-object": object(compatible),
  required: called(chat, "required"),
  named: called(chat, named),
  "responses-required": called(responses, "required"),
  "responses-named": called(responses, named),
  "compatible-named": called(compatible, named),
});
