import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** `wireproof serve` with these options: its address and `stop`, or at once the reason why there is none. */
export function serve(...options) {
  const command = process.env.WIREPROOF ?? "wireproof";
  const child = spawn(command, ["serve", "--port", "0", "--json", ...options], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => fail("has not started within 30 seconds"), 30_000);
    const ended = new Promise((over) => child.once("close", over));
    function fail(why) {
      clearTimeout(late);
      child.kill("SIGKILL");
      reject(new Error(`wireproof serve ${why}\n${said}`.trim()));
    }
    child.once("error", (error) => fail(`cannot be started: ${error.message}; python -m pip install wireproof`));
    ended.then((status) => fail(`ended with status ${status}`));
    createInterface(child.stdout).once("line", (line) => {
      clearTimeout(late);
      // Tests that forget to stop it end all the same, and it ends with them.
      for (const held of [child, child.stdout, child.stderr]) held.unref();
      process.once("exit", () => child.kill("SIGKILL"));
      resolve({ ...JSON.parse(line), stop: () => (child.ref(), child.kill(), ended) });
    });
  });
}
