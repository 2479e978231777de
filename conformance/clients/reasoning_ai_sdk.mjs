// The AI SDK and reasoning: an item of a response, and `reasoning_content` of a chat answer. Each way gives the text and
// the reasoning as its client has them.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

import { main } from "./structured.mjs";

const responses = ({ url, key, model }) => createOpenAI({ baseURL: url, apiKey: key })(model);
const compatible = ({ url, key, model }) =>
  createOpenAICompatible({ name: "wireproof", baseURL: url, apiKey: key })(model);

const common = { prompt: "Think aloud.", maxRetries: 0 };

const whole = (connect) => async (account) => {
  const { text, reasoningText } = await generateText({ ...common, model: connect(account) });
  return { text, reasoning: reasoningText };
};

const streamed = (connect) => async (account) => {
  const pieces = { "text-delta": [], "reasoning-delta": [] };
  for await (const part of streamText({ ...common, model: connect(account) }).fullStream) {
    if (part.type === "error") throw part.error;
    pieces[part.type]?.push(part.text);
  }
  return { text: pieces["text-delta"].join(""), reasoning: pieces["reasoning-delta"].join("") };
};

await main({
  whole: whole(responses),
  stream: streamed(responses),
  "chat-whole": whole(compatible),
  "chat-stream": streamed(compatible),
});
