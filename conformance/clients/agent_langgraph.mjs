// An agent of LangGraph for JavaScript: it goes on by itself until the model calls no tool, and keeps answers by their ids.

import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAICompletions } from "@langchain/openai";
import { z } from "zod";

import { main, QUESTION } from "./structured.mjs";

const agent = ({ url, key, model }, ran) =>
  createReactAgent({
    llm: new ChatOpenAICompletions({ model, apiKey: key, maxRetries: 0, timeout: 20_000, configuration: { baseURL: url } }),
    tools: [
      tool(
        ({ place }) => {
          ran.push(place);
          return `It rains in ${place}.`;
        },
        { name: "look", description: "Says how the weather is.", schema: z.object({ place: z.string() }) },
      ),
    ],
  });

const asked = { messages: [{ role: "user", content: QUESTION }] };

async function whole(account) {
  const ran = [];
  const { messages } = await agent(account, ran).invoke(asked);
  return { ran, said: messages.at(-1).text };
}

async function stream(account) {
  const ran = [];
  let said = "";
  for await (const { messages } of await agent(account, ran).stream(asked, { streamMode: "values" })) {
    said = messages.at(-1).text;
  }
  return { ran, said };
}

await main({ whole, stream });
