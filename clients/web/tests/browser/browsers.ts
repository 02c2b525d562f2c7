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
  /** What the console said of errors, and errors that nobody caught. */
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
  launch(): Promise<Browser>;
}

/** Where pictures are kept. */
const ARTIFACTS =
  process.env["SKIPSTONE_ARTIFACTS"] ?? new URL("../../../../target/browsers/", import.meta.url).pathname;

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FIREFOX = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];

function find(variable: string, paths: readonly string[]): string | undefined {
  return [process.env[variable] ?? "", ...paths].find((path) => path !== "" && existsSync(path));
}

/** Both switch the throttling of hidden pages off, which is what players have. */
const THROTTLED = [
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-renderer-backgrounding",
];

async function launchChromium(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox"],
    ignoreDefaultArgs: THROTTLED,
  });
  return {
    open: async (url) => {
      const page = await browser.newPage({ viewport: { width: 1_100, height: 750 } });
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(url);
      return {
        errors,
        evaluate: (expression) => page.evaluate(expression),
        goto: (other) => page.goto(other),
        reload: () => page.reload(),
        screenshot: async (name) => {
          await page.screenshot({ path: picture(name) });
        },
        close: () => page.close(),
      };
    },
    close: () => browser.close(),
  };
}

async function launchFirefox(executablePath: string): Promise<Browser> {
  const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
  return {
    open: async (url) => {
      const page = await browser.newPage();
      await page.setViewport({ width: 1_100, height: 750 });
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(url);
      return {
        errors,
        evaluate: (expression) => page.evaluate(expression),
        goto: (other) => page.goto(other),
        reload: () => page.reload(),
        screenshot: async (name) => {
          await page.screenshot({ path: picture(name) });
        },
        close: () => page.close(),
      };
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
  launch: (path: string) => Promise<Browser>,
): Kind {
  const missing = path === undefined ? `there is no ${name} on this machine` : undefined;
  return { name, missing, launch: () => launch(path ?? "") };
}

export const KINDS: readonly Kind[] = [
  kind("chromium", find("CHROMIUM", CHROMIUM), launchChromium),
  kind("firefox", find("FIREFOX", FIREFOX), launchFirefox),
];
