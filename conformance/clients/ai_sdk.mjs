// The AI SDK: `streamText` and `generateText` with several steps. Its provider for OpenAI-compatible endpoints speaks chat
// completions, the one for OpenAI speaks both, responses by default: it refers to items that are stored, unless it is told not to store. The
// one for Anthropic speaks messages.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

import { main, MAX_STEPS } from "./dialogue.mjs";

function chat({ endpoint: { url, key, model }, dialogue: { parallel } }) {
  const provider = createOpenAICompatible({ name: "wireproof", baseURL: url, apiKey: key, includeUsage: true });
  return { model: provider(model), wishes: { wireproof: parallel === null ? {} : { parallel_tool_calls: parallel } } };
}

const openai = ({ endpoint: { url, key, model }, dialogue: { parallel } }) => ({
  model: createOpenAI({ baseURL: url, apiKey: key }).chat(model),
  wishes: { openai: parallel === null ? {} : { parallelToolCalls: parallel } },
});

const responses = (more) => ({ endpoint: { url, key, model }, dialogue: { parallel } }) => ({
  model: createOpenAI({ baseURL: url, apiKey: key })(model),
  wishes: { openai: { ...more, ...(parallel !== null && { parallelToolCalls: parallel }) } },
});

const messages = ({ endpoint: { url, key, model }, dialogue: { parallel } }) => ({
  model: createAnthropic({ baseURL: url, apiKey: key })(model),
  wishes: { anthropic: parallel === null ? {} : { disableParallelToolUse: !parallel } },
  // Which it would make up for a model of this name, with a warning where the results are to be.
  limits: { maxOutputTokens: 1024 },
});

function options({ model, wishes, limits }, { dialogue, box }) {
  const tools = dialogue.tools.map(({ name, description, parameters }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: (args) => box.run(name, args) }),
  ]);
  return {
    model,
    prompt: dialogue.prompt,
    maxRetries: 0,
    ...limits,
    stopWhen: stepCountIs(MAX_STEPS),
    ...(tools.length && { tools: Object.fromEntries(tools) }),
    providerOptions: wishes,
  };
}

const turn = ({ text, finishReason, usage, toolCalls }) => ({
  text,
  finish: finishReason.replace("-", "_"),
  usage: [usage.inputTokens, usage.outputTokens],
  calls: toolCalls.map(({ toolCallId, toolName, input }) => ({
    id: toolCallId,
    name: toolName,
    arguments: input,
    raw: null,
  })),
});

const whole = (connect) => async (play) => (await generateText(options(connect(play), play))).steps.map(turn);

const stream = (connect) => async (play) => {
  const result = streamText({
    ...options(connect(play), play),
    onError: ({ error }) => {
      throw error;
    },
  });
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") play.pieces.push(part.text);
    if (part.type === "error" || part.type === "tool-error") throw part.error;
  }
  return (await result.steps).map(turn);
};

await main({
  whole: whole(chat),
  stream: stream(chat),
  "openai-whole": whole(openai),
  "openai-stream": stream(openai),
  "responses-whole": whole(responses({})),
  "responses-stream": stream(responses({})),
  "responses-unstored-whole": whole(responses({ store: false })),
  "responses-unstored-stream": stream(responses({ store: false })),
  "messages-whole": whole(messages),
  "messages-stream": stream(messages),
});
