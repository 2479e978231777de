// openai-node and reasoning: an item of a response, whole and by its `.stream`. Each way gives the text and the reasoning
// as its client has them.

import OpenAI from "openai";

import { main } from "./structured.mjs";

const common = { input: "Think aloud." };
const client = ({ url, key }) => new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 });

const shown = (response) => {
  const [thought] = response.output;
  return { text: response.output_text, reasoning: thought.summary.map((part) => part.text).join("") };
};

await main({
  whole: async (account) => shown(await client(account).responses.create({ ...common, model: account.model })),
  stream: async (account) => {
    const stream = client(account).responses.stream({ ...common, model: account.model });
    return shown(await stream.finalResponse());
  },
});
