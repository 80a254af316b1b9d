import { expect, test } from "vitest";
import { readConfig } from "./env.ts";

test("reads typed values, with fallbacks for what is unset or empty", () => {
  const env = { TEXT: "a b", NUMBER: "-5", FLAG: "true", LIST: " a, b ,,c ", CHOICE: "two", EMPTY: "" };
  const config = readConfig(env, (reader) => ({
    text: reader.text("TEXT"),
    unset: reader.text("UNSET", "fallback"),
    empty: reader.text("EMPTY", "fallback"),
    number: reader.integer("NUMBER", { min: -5, max: 5 }),
    unsetNumber: reader.integer("UNSET", { fallback: 7, min: 0, max: 9 }),
    flag: reader.flag("FLAG", false),
    unsetFlag: reader.flag("UNSET", true),
    list: reader.list("LIST"),
    unsetList: reader.list("UNSET"),
    choice: reader.choice("CHOICE", ["one", "two"], "one"),
  }));
  expect(config).toEqual({
    text: "a b",
    unset: "fallback",
    empty: "fallback",
    number: -5,
    unsetNumber: 7,
    flag: true,
    unsetFlag: true,
    list: ["a", "b", "c"],
    unsetList: [],
    choice: "two",
  });
});

test("one error names every violation, and no value", () => {
  const env = { NUMBER: "hunter2", LARGE: "70000", FLAG: "hunter3", CHOICE: "hunter4", EMPTY: "" };
  const read = () =>
    readConfig(env, (reader) => {
      reader.text("MISSING");
      reader.text("EMPTY");
      reader.integer("NUMBER", { min: 0, max: 9 });
      reader.integer("LARGE", { min: 0, max: 65_535 });
      reader.integer("UNSET", { min: 0, max: 9 });
      reader.flag("FLAG", false);
      reader.choice("CHOICE", ["one", "two"], "one");
    });
  let message = "";
  try {
    read();
  } catch (error) {
    message = (error as Error).message;
  }
  for (const name of ["MISSING", "EMPTY", "NUMBER", "LARGE", "UNSET", "FLAG", "CHOICE"])
    expect(message).toContain(name);
  expect(message).not.toMatch(/hunter|70000/);
});

test("base URLs are one or more, over http or https, and kept as they are written", () => {
  const read = (URLS?: string) => readConfig({ URLS }, (reader) => reader.baseUrls("URLS"));
  for (const urls of ["http://a:1", "https://a.example/, http://[::1]:2"]) expect(read(urls)).toBe(urls);
  expect(() => read()).toThrow("URLS is missing");
  for (const urls of ["a:1", "a", "http://", "http://a,", "ftp://a", "http://a b"]) {
    expect(() => read(urls), urls).toThrow("URLS must be http or https URLs");
  }
  expect(readConfig({}, (reader) => reader.baseUrls("URLS", ""))).toBe("");
});
