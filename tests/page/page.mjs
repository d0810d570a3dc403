// The page in a real browser: the folder $DIST, which .ci/web builds, in headless Chromium ($CHROMIUM). Pictures of it go
// to $PICTURES, if that is set.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { chromium } from "playwright-core";

const here = import.meta.dirname;
const dist = process.env.DIST;
const kinds = { html: "text/html", js: "text/javascript", wasm: "application/wasm", png: "image/png" };

// Milliseconds in which something must happen, on a slow machine without a GPU.
const PATIENCE = 120_000;

/** Serves dist/ on a port of its own. */
async function serve() {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://page").pathname;
    const name = path === "/" ? "index.html" : path.slice(1);
    try {
      const body = await readFile(join(dist, name));
      response.writeHead(200, { "content-type": kinds[name.split(".").pop()] ?? "text/plain" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

/** The text of a link that opens a run. */
const link = (run) => `#run=${deflateRawSync(run).toString("base64url")}`;

/** What a link holds: the descriptions of the run and of the view. */
function opened(address) {
  const packed = Buffer.from(address.split("#run=")[1], "base64url");
  const [run, view] = inflateRawSync(packed).toString().split("\0");
  return { run, view };
}

const RUN = `version = 1

[problem]
kind = "poisson"
shape = [128, 128]

[method]
name = "hierarchical"
k = 4
tile = [32]
overlap = [0]

[stop]
rule = "residual"
max_cycles = 100000
`;

const { server, address } = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: [
    "--disable-background-networking", "--disable-component-update", "--disable-quic", "--disable-sync",
    "--enable-unsafe-swiftshader", "--no-first-run", "--no-sandbox", "--use-angle=swiftshader", "--use-gl=angle",
  ],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
await context.grantPermissions(["clipboard-read", "clipboard-write"]);
context.setDefaultTimeout(PATIENCE);

/** A page that shows what a link says, and the errors that it had. */
async function open(shown) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(address + shown);
  await page.waitForFunction(() => document.getElementById("message").textContent === "");
  await page.waitForTimeout(1000);
  return { page, errors };
}

/** The link that the page copies. */
async function copied(page) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.keyboard.press("Control+Shift+L");
  const handle = await page.waitForFunction(async () => {
    const text = await navigator.clipboard.readText();
    return text.includes("#run=") && text;
  });
  return handle.jsonValue();
}

/** The cycle that a link shows. */
const cycle = (address) => Number(/^cycle = (\d+)/m.exec(opened(address).view)?.[1] ?? 0);

/** How many colours a picture of the page has in its middle, where the map is. */
async function colours(page, name) {
  const path = process.env.PICTURES && join(process.env.PICTURES, `${name}.png`);
  const picture = (await page.screenshot({ path })).toString("base64");
  return page.evaluate(async (picture) => {
    const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    canvas.drawImage(bitmap, 0, 0);
    const [x, y] = [bitmap.width / 4, bitmap.height / 4];
    const { data } = canvas.getImageData(x, y, 2 * x, 2 * y);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) {
      seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    }
    return seen.size;
  }, picture);
}

const tests = {
  async "a link opens a run, which goes on, and is copied"() {
    const { page, errors } = await open(link(RUN));
    const first = await copied(page);
    assert.match(opened(first).run, /shape = \[\s*128,\s*128,?\s*\]/);
    await page.waitForTimeout(2000);
    const second = await copied(page);
    assert.ok(cycle(second) > cycle(first), `${cycle(first)}, then ${cycle(second)}`);
    assert.ok((await colours(page, "run")) > 50, "the map has colours");
    const again = await open(`#${second.split("#")[1]}`);
    await again.page.waitForTimeout(5000);
    assert.deepEqual(opened(await copied(again.page)), opened(second));
    assert.deepEqual([...errors, ...again.errors], []);
  },

  async "a figure is downloaded, and opens where it is dropped"() {
    const { page, errors } = await open(link(RUN));
    const before = opened(await copied(page)).run;
    await page.keyboard.press("Control+S");
    await page.waitForTimeout(2000);
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    const bytes = await readFile(await download.path());
    assert.equal(bytes.subarray(1, 4).toString(), "PNG");
    await colours(page, "saved");
    const other = await open(link(RUN.replaceAll("128", "64")));
    await other.page.evaluate(({ bytes, name }) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], name));
      const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data });
      document.getElementById("tilescope").dispatchEvent(drop);
    }, { bytes: [...bytes], name: download.suggestedFilename() });
    await other.page.waitForTimeout(5000);
    assert.equal(opened(await copied(other.page)).run, before);
    assert.deepEqual([...errors, ...other.errors], []);
  },

  async "a lesson begins by its link, and the first start says welcome"() {
    for (const [shown, name] of [["#lesson=overlap", "lesson"], ["", "welcome"]]) {
      const { page, errors } = await open(shown);
      await colours(page, name);
      assert.deepEqual(errors, []);
    }
  },

  async "every bit is that of a desktop"() {
    const { page } = await open("");
    const known = JSON.parse(await readFile(join(here, "fingerprints.json"), "utf8"));
    const runs = await readdir(join(here, "runs"));
    assert.deepEqual(runs.map((run) => run.replace(".toml", "")).sort(), Object.keys(known).sort());
    const found = {};
    for (const name of Object.keys(known)) {
      const run = await readFile(join(here, "runs", `${name}.toml`), "utf8");
      found[name] = await page.evaluate(async (run) => {
        const { fingerprint } = await import("./tilescope.js");
        return fingerprint(run);
      }, run);
    }
    assert.deepEqual(found, known);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
await browser.close();
server.close();
process.exit(failed === 0 ? 0 : 1);
