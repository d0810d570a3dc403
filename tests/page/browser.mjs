// The page in a browser: the folder $DIST, which .ci/web builds, in headless Chromium ($CHROMIUM), which draws on the CPU
// unless $CHROMIUM_FLAGS says otherwise: more options, with spaces between them. On a machine with a GPU and its EGL
// `--use-angle=gl-egl --ignore-gpu-blocklist` draws on that, as `renderer` shows.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { chromium } from "playwright-core";

const dist = process.env.DIST;
const kinds = { html: "text/html", js: "text/javascript", wasm: "application/wasm", png: "image/png" };

// Milliseconds in which something must happen, on a slow machine without a GPU.
export const PATIENCE = 120_000;

/** Files beside those of the page, by their names, as a lecturer would put them there. */
export const beside = new Map();

/** Serves dist/ on a port of its own. */
async function serve() {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://page").pathname;
    const name = path === "/" ? "index.html" : path.slice(1);
    try {
      const body = beside.get(name) ?? (await readFile(join(dist, name)));
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
export const link = (run) => `#run=${deflateRawSync(run).toString("base64url")}`;

const { server, address } = await serve();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: [
    "--disable-background-networking", "--disable-component-update", "--disable-quic", "--disable-sync",
    "--enable-unsafe-swiftshader", "--no-first-run", "--no-sandbox", "--use-angle=swiftshader", "--use-gl=angle",
    // The last of several values of an option holds.
    ...(process.env.CHROMIUM_FLAGS ?? "").split(" ").filter((flag) => flag !== ""),
  ],
});
export const version = browser.version();

let context;

/** Begins as a visitor who has never been here: all pages are closed, and nothing is kept. */
export async function begin(options = {}) {
  await context?.close();
  context = await browser.newContext({ colorScheme: "light", viewport: { width: 1280, height: 800 }, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  context.setDefaultTimeout(PATIENCE);
  return context;
}

/** A page that shows what a link says, and the errors that it had; waits for it to start, unless it is another's. */
export async function open(shown, is_own = true) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(address + shown);
  if (is_own) await page.waitForFunction(() => document.getElementById("message").textContent === "");
  await page.waitForTimeout(1000);
  return { page, errors };
}

/** What draws a page: the name that WebGL has for it. */
export const renderer = (page) =>
  page.evaluate(() => {
    const gl = document.querySelector("canvas").getContext("webgl2");
    return gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info").UNMASKED_RENDERER_WEBGL);
  });

/** Ends the browser, and the server. */
export async function close() {
  await browser.close();
  server.close();
}
