// Tests of the page in a real browser, or those whose names contain an argument. Pictures of it go to $PICTURES, if that is
// set; those in pictures/ beside this file are compared with the page.

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { PATIENCE, begin, beside, close, link, open } from "./browser.mjs";

const here = import.meta.dirname;

/** What a link holds: the descriptions of the run and of the view. */
function opened(address) {
  const packed = Buffer.from(address.split("#run=")[1], "base64url");
  const [run, view] = inflateRawSync(packed).toString().split("\0");
  return { run, view };
}

// Where the slider of the overlap is: its handle at 0, and a place to the right of it.
const OVERLAP = [121, 180, 148];
// A place in the map, and the buttons that show the browser's dialog, start a tuning map, and pin a run.
const MAP = [460, 300];
const BROWSE = [417, 439];
const START = [42, 236];
const PIN = [1247, 85];
// What is to be saved: lines and text or a table in place of a picture, an animation, and that without loss, once it is one.
const SVG = [391, 554];
const PDF = [440, 554];
const TABLE = [490, 554];
const ANIMATION = [325, 674];
const LOSSLESS = [389, 539];
// What stops an animation under way.
const STOP_FILM = [542, 727];

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

/** The link that the page copies. */
async function copied(page) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  let tries = 0;
  return until("a copied link", async () => {
    // Now and then again: a dialog that is being closed takes no keys.
    if (tries++ % 30 === 0) await page.keyboard.press("Control+Shift+L");
    const text = await page.evaluate(() => navigator.clipboard.readText());
    return text.includes("#run=") && text;
  });
}

/** The first result that is true. */
async function until(what, result) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    const found = await result();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what}: not within ${PATIENCE} ms`);
}

/** Drops a file on the page. */
const drop = (page, name, bytes) =>
  page.evaluate(({ bytes, name }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(bytes)], name));
    const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data });
    document.getElementById("tilescope").dispatchEvent(drop);
  }, { bytes: [...bytes], name });

/** An array of doubles, rows first, as a file of NumPy. */
function npy(rows, columns, value) {
  const header = `{'descr': '<f8', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  // With the ten bytes before it and a line feed, a multiple of 64.
  const text = `${header.padEnd(117)}\n`;
  const start = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, text.length, 0]);
  const values = Float64Array.from({ length: rows * columns }, (_, at) => value(at % columns, Math.floor(at / columns)));
  return Buffer.concat([start, Buffer.from(text), Buffer.from(values.buffer)]);
}

/** Whether a link's run has this shape, the last axis first. */
const hasShape = (address, ...shape) => new RegExp(`shape = \\[\\s*${shape.join(",\\s*")},?\\s*\\]`).test(opened(address).run);

/** The cycle that a link shows. */
const cycle = (address) => Number(/^cycle = (\d+)/m.exec(opened(address).view)?.[1] ?? 0);

/** A picture of the page, or of a part of it, which is also kept. */
async function picture(page, name, part) {
  const path = process.env.PICTURES && join(process.env.PICTURES, `${name}.png`);
  const [x, y, width, height] = part ?? [];
  return page.screenshot({ path, clip: part && { x, y, width, height } });
}

/** Draws pictures in the page, and returns what `of` says about their points: numbers of 0 … 255, four for each. */
const points = (page, pictures, of) =>
  page.evaluate(async ({ pictures, of }) => {
    const decoded = pictures.map(async (picture) => {
      const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes]));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      canvas.drawImage(bitmap, 0, 0);
      return canvas.getImageData(0, 0, bitmap.width, bitmap.height).data;
    });
    return new Function(`return ${of}`)()(...(await Promise.all(decoded)));
  }, { pictures: pictures.map((picture) => picture.toString("base64")), of: String(of) });

/** How many colours a picture of the page has. */
const colours = async (page, name) =>
  points(page, [await picture(page, name)], (data) => {
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) {
      seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    }
    return seen.size;
  });

/** The share of points in which two pictures differ by more than antialiasing and rounded colours do. */
const difference = (page, one, other) =>
  points(page, [one, other], (one, other) => {
    let different = Math.abs(one.length - other.length);
    for (let at = 0; at < one.length; at += 4) {
      const by = [0, 1, 2].map((channel) => Math.abs(one[at + channel] - other[at + channel]));
      different += Math.max(...by) > 32 ? 4 : 0;
    }
    return different / one.length;
  });

/** Waits until the page, or a part of it, looks like a picture of it that somebody has looked at. */
async function looks(page, name, part) {
  const known = await readFile(join(here, "pictures", `${name}.png`));
  await until(`the picture ${name}`, async () => (await difference(page, await picture(page, name, part), known)) < 0.01);
}

const tests = {
  async "a link opens a run, which goes on, and is copied"() {
    const { page, errors } = await open(link(RUN));
    const first = await copied(page);
    assert.ok(hasShape(first, 128, 128));
    await until("more cycles", async () => cycle(await copied(page)) > cycle(first));
    const second = await copied(page);
    assert.ok((await colours(page, "run")) > 50, "the map has colours");
    const again = await open(`#${second.split("#")[1]}`);
    await until("the same cycle", async () => cycle(await copied(again.page)) === cycle(second));
    assert.deepEqual(opened(await copied(again.page)), opened(second));
    assert.deepEqual([...errors, ...again.errors], []);
  },

  async "the overlap is dragged, and the picture changes"() {
    const { page, errors } = await open(link(RUN));
    await page.keyboard.press("Space");
    const before = await page.screenshot();
    const [left, right, y] = OVERLAP;
    await page.mouse.move(left, y);
    await page.mouse.down();
    await page.mouse.move(right, y, { steps: 10 });
    await page.mouse.up();
    const overlap = /overlap = \[\s*(\d+)/;
    const dragged = await until("an overlap", async () => {
      const [, found] = overlap.exec(opened(await copied(page)).run);
      return Number(found) > 0 && found;
    });
    console.log(`   the overlap is ${dragged}`);
    assert.ok((await difference(page, before, await picture(page, "dragged"))) > 0.02);
    assert.deepEqual(errors, []);
  },

  async "a figure is downloaded, and opens where it is dropped"() {
    const { page, errors } = await open(link(RUN));
    const before = opened(await copied(page)).run;
    await page.keyboard.press("Control+S");
    await page.waitForTimeout(2000);
    await picture(page, "save");
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
    const bytes = await readFile(await download.path());
    assert.equal(bytes.subarray(1, 4).toString(), "PNG");
    const other = await open(link(RUN.replaceAll("128", "64")));
    await drop(other.page, download.suggestedFilename(), bytes);
    await until("the dropped run", async () => opened(await copied(other.page)).run === before);
    await picture(other.page, "dropped");
    assert.deepEqual([...errors, ...other.errors], []);
  },

  async "figures of lines, a table and films are downloaded"() {
    for (const [clicks, extension, start] of [
      [[SVG], ".svg", "<svg"],
      [[PDF], ".pdf", "%PDF"],
      [[TABLE], ".csv", "i,"],
      [[ANIMATION], ".gif", "GIF89a"],
      [[ANIMATION, LOSSLESS], ".apng", "\u0089PNG"],
    ]) {
      // The kind of file is remembered.
      await begin();
      const { page, errors } = await open(link(RUN.replace("100000", "20")));
      await until("the last cycle", async () => cycle(await copied(page)) === 20);
      const closed = await picture(page, "closed");
      await page.keyboard.press("Control+S");
      await until("the dialog", async () => (await difference(page, closed, await picture(page, "save"))) > 0.3);
      await page.waitForTimeout(3000);
      for (const place of clicks) {
        const before = await picture(page, "save-before");
        await page.mouse.click(...place);
        await until("a change", async () => (await difference(page, before, await picture(page, `save${extension}`))) > 0.001);
        await page.waitForTimeout(3000);
      }
      const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
      const [name, bytes] = [download.suggestedFilename(), await readFile(await download.path())];
      assert.ok(name.endsWith(extension), name);
      assert.equal(bytes.subarray(0, start.length).toString("latin1"), start);
      // A chunk that says how many frames there are.
      assert.equal(bytes.includes("acTL"), extension === ".apng");
      console.log(`   ${name}, ${bytes.length} bytes`);
      assert.deepEqual(errors, []);
    }
  },

  async "the palette finds an action"() {
    const { page, errors } = await open(link(RUN));
    assert.ok(!/^initial = /m.test(opened(await copied(page)).run));
    const closed = await picture(page, "closed");
    await page.keyboard.press("Control+P");
    await until("the palette", async () => (await difference(page, closed, await picture(page, "palette"))) > 0.1);
    await page.keyboard.type("initial guess of zero");
    await page.waitForTimeout(1000);
    await page.keyboard.press("Enter");
    await until("its guess", async () => /^initial = /m.test(opened(await copied(page)).run));
    assert.deepEqual(errors, []);
  },

  async "frames are drawn while a film is made, and it can be stopped"() {
    const context = await begin();
    await context.addInitScript(() => {
      globalThis.frames = 0;
      const request = globalThis.requestAnimationFrame.bind(globalThis);
      globalThis.requestAnimationFrame = (frame) => request((...values) => (frames++, frame(...values)));
    });
    const { page, errors } = await open(link(RUN.replace("100000", "2000")));
    await until("some cycles", async () => cycle(await copied(page)) > 200);
    const closed = await picture(page, "closed");
    await page.keyboard.press("Control+S");
    await until("the dialog", async () => (await difference(page, closed, await picture(page, "save"))) > 0.3);
    await page.waitForTimeout(3000);
    await page.mouse.click(...ANIMATION);
    await page.waitForTimeout(3000);
    let is_made = false;
    page.once("download", () => (is_made = true));
    const begun = await page.evaluate(() => frames);
    await page.keyboard.press("Enter");
    await until("frames", () => page.evaluate((begun) => frames > begun + 5, begun));
    assert.ok(!is_made, "they are drawn before the film is made");
    // The progress, and once it has ended the buttons.
    const part = [200, 705, 380, 45];
    const before = await picture(page, "film-under-way", part);
    await page.mouse.click(...STOP_FILM);
    await until("its end", async () => (await difference(page, before, await picture(page, "film-stopped", part))) > 0.05);
    assert.ok(!is_made, "nothing is downloaded");
    assert.deepEqual(errors, []);
  },

  async "a dropped array is solved"() {
    const { page, errors } = await open(link(RUN));
    await drop(page, "hill.npy", npy(40, 56, (i, j) => Math.sin(i / 9) * Math.cos(j / 7)));
    await until("its run", async () => hasShape(await copied(page), 56, 40));
    await until("its cycles", async () => cycle(await copied(page)) > 0);
    await picture(page, "array");
    assert.deepEqual(errors, []);
  },

  async "a lesson is walked through"() {
    const { page, errors } = await open("#lesson=overlap");
    const done = () => page.evaluate(() => /lessons-done = \[[^\]]*"overlap"/.test(localStorage["tilescope/settings.toml"]));
    const seen = [];
    await until("its last step", async () => {
      await page.waitForTimeout(3000);
      const step = await picture(page, `lesson-${seen.length}`);
      assert.ok(!seen.some((other) => other.equals(step)), "every step shows something else");
      seen.push(step);
      const is_done = await done();
      await page.keyboard.press("PageDown");
      return is_done;
    });
    assert.ok(seen.length > 2, `${seen.length} steps`);
    assert.deepEqual(errors, []);
  },

  async "an earlier cycle is shown again, and a pinned run beside it"() {
    const { page, errors } = await open(link(RUN));
    await until("some cycles", async () => cycle(await copied(page)) > 150);
    await page.keyboard.press("Space");
    const live = await picture(page, "live");
    await page.keyboard.press("Control+ArrowLeft");
    await until("the cycle of before", async () => (await difference(page, live, await picture(page, "before"))) > 0.005);
    await page.keyboard.press("End");
    await page.keyboard.press("p");
    await page.keyboard.press("k");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+P");
    await until("both runs", async () => (await difference(page, live, await picture(page, "compared"))) > 0.05);
    assert.deepEqual(errors, []);
  },

  async "a tuning map is measured"() {
    const { page, errors } = await open(link(RUN.replaceAll("128", "64")));
    await page.keyboard.press("F3");
    await page.waitForTimeout(2000);
    await page.mouse.click(...START);
    const empty = await picture(page, "tuning-begun");
    await until("cells", async () => (await difference(page, empty, await picture(page, "tuning"))) > 0.01);
    assert.deepEqual(errors, []);
  },

  async "a lecturer's own lesson is read from the same server, and no other"() {
    const run = 'problem = "poisson"\nshape = [40, 24]\nk = 4\ntile = 8\ncycles = 10\n';
    const lesson = `+++\ntitle = "Mine"\nminutes = 1\n+++\n\n## One\n\nText.\n\n\`\`\`tilescope\n${run}\`\`\`\n`;
    beside.set("mine.md", lesson);
    const { page, errors } = await open("#lesson=mine.md");
    await until("its run", async () => hasShape(await copied(page), 24, 40) || hasShape(await copied(page), 40, 24));
    await picture(page, "own-lesson");
    const dropped = await open(link(RUN));
    await drop(dropped.page, "mine.md", Buffer.from(lesson.replace("[40, 24]", "[48, 16]")));
    const hasItsShape = (text) => hasShape(text, 48, 16) || hasShape(text, 16, 48);
    await until("the dropped one's run", async () => hasItsShape(await copied(dropped.page)));
    await picture(dropped.page, "dropped-lesson");
    assert.deepEqual(dropped.errors, []);
    for (const [address, known] of [["none.md", "own-none"], ["https://other.example/mine.md", "own-other"]]) {
      const other = await open(`#lesson=${address}`);
      await picture(other.page, known);
      // The browser says that a file was not found, and nothing else happens.
      assert.ok(other.errors.every((error) => error.includes("404")), String(other.errors));
    }
    assert.deepEqual(errors, []);
  },

  async "a page is shown inside another"() {
    beside.set("frame.html", `<!doctype html><link rel="icon" href="icon.png"><iframe width="1000" height="600" src="/${link(RUN)}"></iframe>`);
    const { page, errors } = await open("frame.html", false);
    const frame = await until("the frame", () => page.frames().find((frame) => frame.url().includes("#run=")));
    await frame.waitForFunction(() => document.getElementById("message")?.textContent === "");
    await until("its map", async () => (await colours(page, "frame")) > 50);
    assert.deepEqual(errors, []);
  },

  async "a matrix is chosen in the browser's dialog, and solved"() {
    const { page, errors } = await open(link(RUN.replace("100000", "50")));
    const rows = 400;
    const entries = Array.from({ length: rows }, (_, i) => [`${i + 1} ${i + 1} 4`, ...(i > 0 ? [`${i + 1} ${i} -1`] : [])]).flat();
    const text = `%%MatrixMarket matrix coordinate real symmetric\n${rows} ${rows} ${entries.length}\n${entries.join("\n")}\n`;
    await page.waitForTimeout(2000);
    const closed = await picture(page, "closed");
    await page.keyboard.press("Control+O");
    await until("the dialog", async () => (await difference(page, closed, await picture(page, "open"))) > 0.3);
    const clicked = page.mouse.click(...BROWSE, { delay: 200 });
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), clicked]);
    await chooser.setFiles({ name: "chain.mtx", mimeType: "text/plain", buffer: Buffer.from(text) });
    await until("its run", async () => hasShape(await copied(page), rows));
    await picture(page, "matrix");
    assert.deepEqual(errors, []);
  },

  async "two fingers zoom, one finger moves the map, and a long press explains"() {
    const context = await begin({ hasTouch: true });
    const { page, errors } = await open(link(RUN.replace("100000", "50")));
    const session = await context.newCDPSession(page);
    const touch = (type, ...points) =>
      session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ id, x, y })) });
    // What is said at the end of the run goes away by itself.
    await page.waitForTimeout(8000);
    const moved = async (what, change) => {
      const before = await picture(page, `${what}-before`);
      await change();
      await until(what, async () => (await difference(page, before, await picture(page, what))) > 0.0005);
    };
    const [x, y] = MAP;
    await moved("pinched", async () => {
      await touch("touchStart", [x - 20, y]);
      await touch("touchStart", [x - 20, y], [x + 20, y]);
      for (let by = 24; by <= 80; by += 4) {
        await touch("touchMove", [x - by, y], [x + by, y]);
        await page.waitForTimeout(100);
      }
      await touch("touchEnd");
    });
    await moved("moved", async () => {
      await touch("touchStart", [x, y]);
      for (let by = 5; by <= 60; by += 5) {
        await touch("touchMove", [x + by, y + by / 2]);
        await page.waitForTimeout(100);
      }
      await touch("touchEnd");
    });
    await page.waitForTimeout(2000);
    await moved("explained", () => touch("touchStart", PIN));
    await touch("touchEnd");
    assert.deepEqual(errors, []);
  },

  async "the largest grids start"() {
    for (const shape of ["1024, 1024", "128, 128, 128"]) {
      const tile = shape.split(",").length === 3 ? 16 : 32;
      const { page, errors } = await open(link(RUN.replace("128, 128", shape).replace("[32]", `[${tile}]`)));
      await until(`cycles of ${shape}`, async () => cycle(await copied(page)) > 2);
      await picture(page, shape.replaceAll(", ", "x"));
      assert.deepEqual(errors, []);
    }
  },

  async "a matrix of a million rows starts"() {
    const matrix = RUN.replace('"poisson"', '"matrix"\nmatrix = { source = "poisson-1000x1000" }');
    const { page, errors } = await open(link(matrix.replace("128, 128", "1000000").replace("[32]", "[1024]")));
    await until("its cycles", async () => cycle(await copied(page)) > 2);
    await picture(page, "matrix-large");
    assert.deepEqual(errors, []);
  },

  async "what is too large is refused in a sentence"() {
    const { page, errors } = await open(link(RUN.replace("128, 128", "9000, 9000")));
    await looks(page, "refused", [284, 630, 490, 60]);
    assert.deepEqual(errors, []);
  },

  async "settings outlive the visit"() {
    const { page, errors } = await open("#lesson=overlap");
    const settings = () => page.evaluate(() => localStorage["tilescope/settings.toml"] ?? "");
    await page.waitForTimeout(2000);
    const light = await picture(page, "light");
    await page.keyboard.press("Control+T");
    await until("a saved theme", async () => /dark = true/.test(await settings()));
    await page.reload();
    await until("a dark page", async () => (await difference(page, light, await picture(page, "dark"))) > 0.5);
    assert.deepEqual(errors, []);
  },

  async "the first start says welcome, and a lesson looks as it did"() {
    for (const [shown, name, part] of [
      ["", "welcome", [328, 144, 626, 512]],
      ["#lesson=overlap", "lesson", [0, 40, 640, 300]],
    ]) {
      const { page, errors } = await open(shown);
      await looks(page, name, part);
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
      found[name] = {};
      for (const precision of ["f32", "f64"]) {
        const precise = run.replace("[method]", `[method]\nprecision = "${precision}"`);
        found[name][precision] = await page.evaluate(async (run) => {
          const { fingerprint } = await import("./tilescope.js");
          return fingerprint(run);
        }, precise);
      }
    }
    assert.deepEqual(found, known);
  },
};

let failed = 0;
const parts = process.argv.slice(2);
for (const [name, test] of Object.entries(tests)) {
  if (parts.length > 0 && !parts.some((part) => name.includes(part))) continue;
  try {
    await begin();
    await test();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
await close();
process.exit(failed === 0 ? 0 : 1);
