// Headless Chromium (by playwright-core) and Firefox (by puppeteer-core and WebDriver BiDi), as one.

import { existsSync, mkdirSync } from "node:fs";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";

/** A page. */
export interface Page {
  /** Evaluates an expression there, which may be a promise. */
  evaluate(expression: string): Promise<unknown>;
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  screenshot(name: string): Promise<void>;
  click(selector: string): Promise<void>;
  type(selector: string, text: string): Promise<void>;
  /** Holds a key down for this number of milliseconds. */
  press(key: "ArrowRight", ms: number): Promise<void>;
  /** True if the element's text holds this, else nothing. */
  shows(selector: string, text: string | RegExp): Promise<true | undefined>;
  /** Errors on the console, and uncaught errors. */
  errors: string[];
  close(): Promise<void>;
}

export interface Browser {
  open(url: string): Promise<Page>;
  close(): Promise<void>;
}

export interface Kind {
  name: "chromium" | "firefox";
  /** Why it cannot be started; `undefined` if it can. */
  missing: string | undefined;
  /** Trusts any certificate with `"all"`, like a player with the server's authority installed. */
  launch(trusts?: Trusts): Promise<Browser>;
}

export type Trusts = "authorities" | "all";

/** Where pictures are kept. */
const ARTIFACTS =
  process.env["SKIPSTONE_ARTIFACTS"] ?? new URL("../../../../target/browsers/", import.meta.url).pathname;

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FIREFOX = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];

function find(variable: string, paths: readonly string[]): string | undefined {
  return [process.env[variable] ?? "", ...paths].find((path) => path !== "" && existsSync(path));
}

/** Both switch off the throttling of hidden pages, which players have. */
const THROTTLED = [
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
];

/** The common part of both libraries' pages. */
interface Driven {
  evaluate(expression: string): Promise<unknown>;
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  screenshot(options: { path: `${string}.png` }): Promise<unknown>;
  click(selector: string): Promise<unknown>;
  type(selector: string, text: string): Promise<unknown>;
  keyboard: { down(key: "ArrowRight"): Promise<unknown>; up(key: "ArrowRight"): Promise<unknown> };
  close(): Promise<unknown>;
}

function driven(page: Driven, errors: string[]): Page {
  const textOf = (selector: string): Promise<unknown> =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ""`);
  return {
    errors,
    evaluate: (expression) => page.evaluate(expression),
    goto: (url) => page.goto(url),
    reload: () => page.reload(),
    screenshot: async (name) => {
      await page.screenshot({ path: picture(name) });
    },
    click: async (selector) => {
      await page.click(selector);
    },
    type: async (selector, text) => {
      await page.type(selector, text);
    },
    press: async (key, ms) => {
      await page.keyboard.down(key);
      await new Promise((resolve) => setTimeout(resolve, ms));
      await page.keyboard.up(key);
    },
    shows: async (selector, text) => {
      const shown = String(await textOf(selector));
      return (typeof text === "string" ? shown.includes(text) : text.test(shown)) || undefined;
    },
    close: async () => {
      await page.close();
    },
  };
}

async function launchChromium(executablePath: string, trusts: Trusts): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      ...(process.env["SKIPSTONE_CHROMIUM_ARGS"] ?? "").split(" ").filter((it) => it !== ""),
      ...(trusts === "all" ? ["--ignore-certificate-errors"] : []),
    ],
    ignoreDefaultArgs: THROTTLED,
  });
  return {
    open: async (url) => {
      const page = await browser.newPage({ viewport: { width: 1_100, height: 750 } });
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(url);
      return driven(page, errors);
    },
    close: () => browser.close(),
  };
}

async function launchFirefox(executablePath: string, trusts: Trusts): Promise<Browser> {
  const acceptInsecureCerts = trusts === "all";
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath,
    headless: true,
    acceptInsecureCerts,
  });
  return {
    open: async (url) => {
      const page = await browser.newPage();
      await page.setViewport({ width: 1_100, height: 750 });
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(url);
      return driven(page, errors);
    },
    close: () => browser.close(),
  };
}

/** Chromium whose tabs hide each other. */
export interface Tabs {
  open(url: string): Promise<{ evaluate(expression: string): Promise<unknown> }>;
  /** Brings another tab to the front. */
  cover(): Promise<void>;
  close(): Promise<void>;
}

/** Uses puppeteer, because playwright makes each page believe that it is in front. */
export async function launchTabs(): Promise<Tabs> {
  const executablePath = find("CHROMIUM", CHROMIUM) ?? "";
  const browser = await puppeteer.launch({
    executablePath,
    args: ["--no-sandbox"],
    ignoreDefaultArgs: THROTTLED,
  });
  return {
    open: async (url) => {
      const page = await browser.newPage();
      await page.goto(url);
      return page;
    },
    cover: async () => {
      await (await browser.newPage()).bringToFront();
    },
    close: () => browser.close(),
  };
}

function picture(name: string): `${string}.png` {
  mkdirSync(ARTIFACTS, { recursive: true });
  return `${ARTIFACTS}/${name}.png`;
}

function kind(
  name: Kind["name"],
  path: string | undefined,
  launch: (path: string, trusts: Trusts) => Promise<Browser>,
): Kind {
  const missing = path === undefined ? `there is no ${name} on this machine` : undefined;
  return { name, missing, launch: (trusts = "authorities") => launch(path ?? "", trusts) };
}

export const KINDS: readonly Kind[] = [
  kind("chromium", find("CHROMIUM", CHROMIUM), launchChromium),
  kind("firefox", find("FIREFOX", FIREFOX), launchFirefox),
];
