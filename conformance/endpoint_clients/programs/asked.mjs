// What the JavaScript programs share: they read and write the same JSON as the Python ones (`asked.py`).
import { readFileSync } from "node:fs";
import { z } from "zod";

export const { url, key, model } = JSON.parse(readFileSync(0, "utf8"));
process.env.OPENAI_API_KEY = key;
process.env.OPENAI_BASE_URL = url;
export const HELLO = "Say hello to everyone.";
export const WEATHER = "What is the weather in Bern?";
export const EVENT = "Alice and Bob meet at the fair on the 5th.";
export const REFUSED = "Please refuse me.";
export const FLAKY = "This is flaky.";
export const Event = z.object({ name: z.string(), day: z.number().int(), people: z.array(z.string()) });
export const user = (content) => [{ role: "user", content }];
const ran = [];

export const getWeather = ({ city }) => {
  ran.push(city);
  return `Sunny in ${city}.`;
};
export const parameters = {
  type: "object",
  properties: { city: { type: "string", description: "the name of the city" } },
  required: ["city"],
};
export const tool = { type: "function", function: { name: "get_weather", description: "Get the weather.", parameters } };

/** The pieces of text in a stream of chunks. */
export async function pieces(chunks) {
  const found = [];
  for await (const chunk of chunks) {
    const text = chunk.choices?.[0]?.delta?.content;
    if (text) found.push(text);
  }
  return found;
}

/** A loop over chat completions; `create` takes messages and gives the message of the answer. */
export async function loop(create) {
  const messages = user(WEATHER);
  const said = await create(messages);
  const [call] = said.tool_calls;
  const content = getWeather(JSON.parse(call.function.arguments));
  return (await create([...messages, said, { role: "tool", tool_call_id: call.id, content }])).content;
}

/** Go each way, and print what came of it. */
export async function main(ways) {
  const results = {};
  for (const [name, way] of Object.entries(ways)) {
    try {
      results[name] = await way();
    } catch (error) {
      results[name] = { raised: error.constructor.name, said: `${error.message} ${error.cause?.message ?? ""}` };
    }
    if (name === "tool") results.ran = [...ran];
  }
  console.log("\n" + JSON.stringify(results));
  process.exit(0);
}
