import { expect, test } from "vitest";
import { shownBody } from "./shown-body.ts";

const FORM = "application/x-www-form-urlencoded";
const shown = (text: string, type = "application/json") => shownBody(Buffer.from(text), type).toString();

test("[IN-12] secrets in a JSON body are replaced by name, at every depth", () => {
  const body = '{"user": {"password": "p", "list": [{"api_key": "k", "n": 1.50}]}, "_id": 7, "_token": "t"}';
  expect(JSON.parse(shown(body))).toEqual({
    user: { password: "[entfernt]", list: [{ api_key: "[entfernt]", n: 1.5 }] },
    _id: 7,
    _token: "[entfernt]",
  });
});

test("[IN-20] [IN-12] secrets in a form are replaced by name", () => {
  expect(shown("text=a+b&password=p&password=q&_x=1&n=1&n=2", FORM)).toBe(
    "text=a+b&password=%5Bentfernt%5D&_x=1&n=1&n=2",
  );
});

test("[IN-12] a body that cannot be read is not shown", () => {
  expect(shown('{"password":"p"')).toBe("");
});
