// Measures the page in a real browser: the turns on its thread, frames, the speed of runs, and drags; or those whose names
// contain an argument.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { begin, close, link, open, renderer, version } from "./browser.mjs";

const folder = join(import.meta.dirname, "speed");
const parts = process.argv.slice(2);
const is_asked = (name) => parts.length === 0 || parts.some((part) => name.includes(part));
const names = (await readdir(folder)).map((name) => name.replace(".toml", "")).filter(is_asked).sort();

/** A run on about 256² points in tiles of 32², of k = 16 or ∞, that does not end by itself before its last cycle. */
const run = async (name, cycles) =>
  (await readFile(join(folder, `${name}.toml`), "utf8")).replace(/max_cycles = \d+/, `max_cycles = ${cycles}`);

// Milliseconds in which turns are measured.
const LONG = 10_000;

// Where the slider of the overlap is, as in the tests: its handle at 0, and a place to the right of it; a step of it; and a
// place in the map.
const OVERLAP = [121, 180, 148];
const NOTCH = 6;
const MAP = [460, 300];

/**
 * Keeps the length of every turn of the page: of timers, in which loops and jobs are, and of frames; and when the browser
 * asked for a frame, and when the page drew one.
 */
function keepTurns() {
  globalThis.turns = { setTimeout: [], requestAnimationFrame: [] };
  globalThis.frames = { offered: [], drawn: [] };
  let has_drawn = false;
  const draw = WebGL2RenderingContext.prototype.drawElements;
  WebGL2RenderingContext.prototype.drawElements = function (...values) {
    has_drawn = true;
    draw.apply(this, values);
  };
  for (const name of Object.keys(turns)) {
    const call = globalThis[name].bind(globalThis);
    globalThis[name] = (turn, ...rest) =>
      call((...values) => {
        const begin = performance.now();
        has_drawn = false;
        turn(...values);
        turns[name].push(performance.now() - begin);
        if (name !== "requestAnimationFrame") return;
        frames.offered.push(begin);
        if (has_drawn) frames.drawn.push(begin);
      }, ...rest);
  }
}

/** Forgets what was kept of turns. */
const forgetTurns = (page) =>
  page.evaluate(() => [turns, frames].forEach((kept) => Object.values(kept).forEach((times) => times.splice(0))));

/** Keeps when the pointer moved, and when a frame first showed another picture in the middle of the map. */
function keepPictures([x, y]) {
  globalThis.moved = [];
  globalThis.shown = [];
  addEventListener("pointermove", () => moved.push(performance.now()), { capture: true });
  const size = 64;
  const points = new Uint8Array(4 * size * size);
  const request = globalThis.requestAnimationFrame.bind(globalThis);
  let before = "";
  globalThis.requestAnimationFrame = (frame) =>
    request((...values) => {
      frame(...values);
      const canvas = document.querySelector("canvas");
      const gl = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
      gl.readPixels(x, canvas.height - y, size, size, gl.RGBA, gl.UNSIGNED_BYTE, points);
      const now = points.join();
      if (now !== before) shown.push(performance.now());
      before = now;
    });
}

function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1);
  return `${sorted.length}: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, longest ${at(1)} ms`;
}

/** Frames per second, and the times from one to the next. */
function rate(times) {
  const seconds = (times.at(-1) - times[0]) / 1000;
  const intervals = times.slice(1).map((time, at) => time - times[at]);
  return `${((times.length - 1) / seconds).toFixed(1)} per second, ${summary(intervals)}`;
}

/** Says what was kept of turns. */
async function sayTurns(page) {
  const [turns, frames] = await page.evaluate(() => [globalThis.turns, globalThis.frames]);
  console.log(`  turns ${summary(turns.setTimeout)}`);
  console.log(`  frames ${summary(turns.requestAnimationFrame)}`);
  console.log(`  offered frames ${rate(frames.offered)}`);
  console.log(`  drawn frames ${rate(frames.drawn)}`);
  console.log(`  drawn by ${await renderer(page)}`);
}

/** Problems whose exact solution is found beside their run, and the points of each. */
const EXACT = {
  "poisson-256": ['kind = "poisson"', "256, 256"],
  "convection-256": ['kind = "convection-diffusion"', "256, 256"],
  "materials-256": ['kind = "diffusion"', "256, 256"],
  "poisson-1024": ['kind = "poisson"', "1024, 1024"],
  "materials-512": ['kind = "diffusion"', "512, 512"],
};

/** A run of ten cycles, whose error is shown. */
const exact = ([problem, shape]) =>
  link(
    `version = 1\n[problem]\n${problem}\nshape = [${shape}]\n[method]\nname = "hierarchical"\nk = 16\ntile = [32]\n` +
      `overlap = [0]\n[stop]\nrule = "residual"\nmax_cycles = 10\n\0cycle = 0\nfield = "error"\n`,
  );

/** Cycles a second of a run without the window, of processor time: other programs may take a part of the machine. */
async function speed(page, few, many) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration").value;
  };
  const time = async (run) => {
    const begin = await busy();
    await page.evaluate(async (run) => {
      const { fingerprint } = await import("./tilescope.js");
      fingerprint(run);
    }, run);
    return (await busy()) - begin;
  };
  await time(few);
  return 1000 / ((await time(many)) - (await time(few)));
}

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
  await forgetTurns(page);
  await page.waitForTimeout(LONG);
  await sayTurns(page);
  console.log(`  ${errors.length} errors`);
}

// The error of a run that ends soon: what takes long is the exact solution.
for (const [name, problem] of Object.entries(EXACT)) {
  if (!is_asked(`exact-${name}`)) continue;
  const context = await begin();
  await context.addInitScript(keepTurns);
  const { page, errors } = await open(exact(problem));
  await page.waitForTimeout(16_000);
  console.log(`the exact solution of ${name}`);
  await sayTurns(page);
  console.log(`  ${errors.length} errors`);
}

// A run that goes on, whose overlap is dragged to and fro all the time.
if (is_asked("drag")) {
  const context = await begin();
  await context.addInitScript(keepTurns);
  const { page } = await open(link(await run("quarter-f64", 1_000_000)));
  await page.waitForTimeout(3000);
  const [left, right, y] = OVERLAP;
  await page.mouse.move(left, y);
  await page.mouse.down();
  await forgetTurns(page);
  for (const end = Date.now() + LONG; Date.now() < end; ) {
    await page.mouse.move(right, y, { steps: right - left });
    await page.mouse.move(left, y, { steps: right - left });
  }
  console.log("a drag that does not rest");
  await sayTurns(page);
  await page.mouse.up();
}

// A run that rests, whose overlap is dragged notch by notch; a picture may come in parts, so the first after a move counts.
if (is_asked("notch")) {
  const context = await begin();
  await context.addInitScript(keepPictures, MAP);
  const { page } = await open(link(await run("quarter-f64", 1_000_000)));
  await page.waitForTimeout(3000);
  await page.keyboard.press("Space");
  await page.waitForTimeout(2000);
  const [left, right, y] = OVERLAP;
  await page.mouse.move(left, y);
  await page.mouse.down();
  await page.waitForTimeout(2000);
  const times = [];
  for (let x = left + NOTCH; x <= right; x += NOTCH) {
    await page.evaluate(() => [moved, shown].forEach((times) => times.splice(0)));
    await page.mouse.move(x, y);
    await page.waitForTimeout(2000);
    const [moved, pictures] = await page.evaluate(() => [globalThis.moved, globalThis.shown]);
    // A picture of before may come while the pointer is being moved.
    const shown = pictures.filter((time) => time > moved[0]);
    console.log(`  ${x}: ${shown.map((time) => (time - moved[0]).toFixed(0)).join(", ")}`);
    if (shown.length > 0) times.push(shown[0] - moved[0]);
  }
  await page.mouse.up();
  console.log(`a drag, from a notch to its picture ${summary(times)}`);
}
await close();
