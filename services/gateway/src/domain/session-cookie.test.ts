import { expect, test } from "vitest";
import {
  clearedCookie,
  cookieToken,
  csrfTokenOf,
  deviceCookie,
  deviceToken,
  loginOf,
  sessionCookie,
} from "./session-cookie.ts";

const cookie = "toolgate_session=abc";

test("[MGMT] scripts and other sites cannot use the cookie, and one for https is not sent over http", () => {
  expect(sessionCookie("abc", { secure: false, maxAgeSeconds: 60 })).toBe(
    "toolgate_session=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Strict",
  );
  expect(sessionCookie("abc", { secure: true, maxAgeSeconds: 60 })).toBe(
    "__Host-toolgate_session=abc; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Strict",
  );
  expect(clearedCookie(false)).toContain("toolgate_session=; Max-Age=0");
});

test("[MGMT] over https only the prefixed name counts", () => {
  expect(cookieToken("toolgate_session=planted; __Host-toolgate_session=abc", true)).toBe("abc");
  expect(cookieToken("toolgate_session=planted", true)).toBeUndefined();
  expect(cookieToken(cookie, false)).toBe("abc");
  expect(cookieToken("toolgate_session=", false)).toBeUndefined();
});

test("[MGMT] scripts and other sites cannot use a device's cookie, and over https only its prefixed name counts", () => {
  expect(deviceCookie("abc", false)).toBe("toolgate_device=abc; Max-Age=7776000; Path=/; HttpOnly; SameSite=Strict");
  expect(deviceCookie("abc", true)).toBe(
    "__Host-toolgate_device=abc; Max-Age=7776000; Path=/; HttpOnly; Secure; SameSite=Strict",
  );
  expect(deviceToken("toolgate_device=planted; __Host-toolgate_device=abc", true)).toBe("abc");
  expect(deviceToken("toolgate_device=planted", true)).toBe("");
  expect(deviceToken("toolgate_session=x; toolgate_device=abc", false)).toBe("abc");
  expect(deviceToken(undefined, false)).toBe("");
});

test("[WMGMT] [MGMT] a cookie counts only with the CSRF token of its own session", () => {
  expect(loginOf({}, false)).toEqual({ kind: "none" });
  expect(loginOf({ cookie }, false)).toEqual({ kind: "without-csrf-token", token: "abc" });
  for (const csrfToken of ["", "x", csrfTokenOf("other"), `${csrfTokenOf("abc")}x`]) {
    expect(loginOf({ cookie, "x-csrf-token": csrfToken }, false)).toMatchObject({ kind: "without-csrf-token" });
  }
  const own = { cookie, "x-csrf-token": csrfTokenOf("abc") };
  expect(loginOf(own, false)).toEqual({ kind: "token", token: "abc" });
});
