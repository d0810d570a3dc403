// Measures the page in a real browser: the time to start, the turns on its thread, frames, and the speed of runs.

import { begin, close, link, open, version } from "./browser.mjs";

/** A run of k = 16 on 256² points in tiles of 32² that does not end by itself before its last cycle. */
const run = (precision, omega, cycles) => `version = 1

[problem]
kind = "poisson"
shape = [256, 256]

[method]
name = "hierarchical"
k = 16
tile = [32]
overlap = [0]
omega = ${omega}
precision = "${precision}"

[stop]
rule = "residual"
tolerance = 1e-300
max_cycles = ${cycles}
`;

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

/** Cycles a second of a run without the window. */
const speed = (page, precision, omega, cycles) =>
  page.evaluate(async ([few, many, cycles]) => {
    const { fingerprint } = await import("./tilescope.js");
    const time = (run) => {
      const begin = performance.now();
      fingerprint(run);
      return performance.now() - begin;
    };
    time(few);
    return (cycles / (time(many) - time(few))) * 1000;
  }, [run(precision, omega, 20), run(precision, omega, 20 + cycles), cycles]);

console.log(`Chromium ${version}`);
for (const [name, precision, omega, cycles] of [
  ["f64", "f64", 1, 500],
  ["f32", "f32", 1, 500],
  ["f64, damped", "f64", 0.9, 100],
]) {
  const context = await begin();
  const idle = await open("#lesson=overlap");
  await idle.page.waitForTimeout(5000);
  console.log(`${name}: ${(await speed(idle.page, precision, omega, cycles)).toFixed(0)} cycles/s without the window`);
  await idle.page.close();
  await context.addInitScript(keepTurns);
  const { page, errors } = await open(link(run(precision, omega, 1_000_000)));
  await page.waitForTimeout(3000);
  await page.evaluate(() => Object.values(turns).forEach((times) => times.splice(0)));
  await page.waitForTimeout(LONG);
  const turns = await page.evaluate(() => turns);
  console.log(`  turns ${summary(turns.setTimeout)}`);
  console.log(`  frames ${summary(turns.requestAnimationFrame)}, ${errors.length} errors`);
}
await close();
