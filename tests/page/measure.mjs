// Measures the page in a real browser: the time to start, the turns on its thread, frames, and the speed of runs.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { begin, close, link, open, version } from "./browser.mjs";

const folder = join(import.meta.dirname, "speed");
const names = (await readdir(folder)).map((name) => name.replace(".toml", "")).sort();

/** A run of k = 16 on about 256² points in tiles of 32² that does not end by itself before its last cycle. */
const run = async (name, cycles) =>
  (await readFile(join(folder, `${name}.toml`), "utf8")).replace(/max_cycles = \d+/, `max_cycles = ${cycles}`);

// Milliseconds in which turns are measured.
const LONG = 10_000;

/** Keeps the length of every turn of the page: of timers, in which loops and jobs are, and of frames. */
function keepTurns() {
  globalThis.turns = { setTimeout: [], requestAnimationFrame: [] };
  for (const name of Object.keys(turns)) {
    const call = globalThis[name].bind(globalThis);
    globalThis[name] = (turn, ...rest) =>
      call((...values) => {
        const begin = performance.now();
        turn(...values);
        turns[name].push(performance.now() - begin);
      }, ...rest);
  }
}

function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1);
  return `${sorted.length}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`;
}

/** Cycles a second of a run without the window: a thousand. */
const speed = (page, few, many) =>
  page.evaluate(async ([few, many]) => {
    const { fingerprint } = await import("./tilescope.js");
    const time = (run) => {
      const begin = performance.now();
      fingerprint(run);
      return performance.now() - begin;
    };
    time(few);
    return (1000 * 1000) / (time(many) - time(few));
  }, [few, many]);

console.log(`Chromium ${version}`);
for (const name of names) {
  const context = await begin();
  const idle = await open("#lesson=overlap");
  await idle.page.waitForTimeout(5000);
  const found = await speed(idle.page, await run(name, 20), await run(name, 1020));
  console.log(`${name}: ${found.toFixed(0)} cycles/s without the window`);
  await idle.page.close();
  await context.addInitScript(keepTurns);
  const { page, errors } = await open(link(await run(name, 1_000_000)));
  await page.waitForTimeout(3000);
  await page.evaluate(() => Object.values(turns).forEach((times) => times.splice(0)));
  await page.waitForTimeout(LONG);
  const turns = await page.evaluate(() => turns);
  console.log(`  turns ${summary(turns.setTimeout)}`);
  console.log(`  frames ${summary(turns.requestAnimationFrame)}, ${errors.length} errors`);
}
await close();
