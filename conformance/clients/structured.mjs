// What the JavaScript programs share that ask for structured output and for forced calls; see `structured.py`.

import { text } from "node:stream/consumers";

import { z } from "zod";

import "./dialogue.mjs"; // only loopback is allowed

export const QUESTION = "Alice and Bob meet at the fair on the 5th.";
export const Event = z.object({ name: z.string(), day: z.number().int().min(1).max(31), people: z.array(z.string()) });
export const FirstTool = z.object({ note: z.string() });
export const SecondTool = z.object({ count: z.number().int() });

/** A way's result that is an event, checked by its schema. */
export const event = (found) => ({ event: Event.parse(found) });

/** Go all ways. */
export async function main(ways) {
  const account = JSON.parse(await text(process.stdin));
  const results = {};
  for (const [name, way] of Object.entries(ways)) {
    try {
      results[name] = await way(account);
    } catch (error) {
      results[name] = { error: String(error?.stack ?? error) };
    }
  }
  process.stdout.write(JSON.stringify(results));
}
