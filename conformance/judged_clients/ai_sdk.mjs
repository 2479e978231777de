// The AI SDK's loop of tools: `generateText` or `streamText`, on chat (`openai-compatible`) or Responses (`openai`).
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { FUNCTION, MODEL, lookUp, talk } from "./talk.mjs";

const [surface, mode] = process.argv.slice(2);
const at = { name: "wireproof", baseURL: process.env.OPENAI_BASE_URL, apiKey: process.env.OPENAI_API_KEY };
const model = surface === "chat" ? createOpenAICompatible(at)(MODEL) : createOpenAI(at).responses(MODEL);
const tools = {
  look_up: tool({
    description: FUNCTION.description,
    inputSchema: z.object({ query: z.string() }),
    execute: async (input) => lookUp(input),
  }),
};
const messages = [];

await talk(async (prompt) => {
  messages.push({ role: "user", content: prompt });
  const asked = { model, tools, messages, stopWhen: stepCountIs(5) };
  if (mode === "whole") {
    const result = await generateText(asked);
    messages.push(...result.response.messages);
    return result.text;
  }
  let failed;
  const result = streamText({ ...asked, onError: ({ error }) => (failed = error) });
  await result.consumeStream();
  if (failed) throw failed;
  messages.push(...(await result.response).messages);
  return result.text;
});
