import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";

describe("the configuration of make run", () => {
  test("has defaults, and an empty variable counts as absent", () => {
    const expected = {
      port: 8080,
      dataDir: "/root-folder/.data",
      topology: "single",
      allowedTargets: [],
      path: undefined,
    };
    expect(readConfig({}, "/root-folder")).toEqual(expected);
    expect(readConfig({ PORT: "", DATA_DIR: "", TOPOLOGY: "", DATABASE_URL: "" }, "/root-folder")).toEqual(expected);
  });

  test("takes every variable", () => {
    const env = {
      PORT: "9090",
      DATA_DIR: "elsewhere",
      TOPOLOGY: "split",
      DATABASE_URL: "postgres://u:p@localhost/db",
      NATS_URL: "nats://localhost",
      REDIS_URL: "redis://localhost",
      ALLOWED_TARGETS: "127.0.0.1:3443, 10.0.0.0/8,",
      PATH: "/bin",
    };
    expect(readConfig(env, "/root-folder")).toEqual({
      port: 9090,
      dataDir: "/root-folder/elsewhere",
      topology: "split",
      databaseUrl: env.DATABASE_URL,
      natsUrl: env.NATS_URL,
      redisUrl: env.REDIS_URL,
      allowedTargets: ["127.0.0.1:3443", "10.0.0.0/8"],
      path: "/bin",
    });
  });

  test("takes exactly the ports from 1 to 65535", () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -10, max: 70_000 }).map(String), fc.string()), (text) => {
        const isPort = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
        if (text === "" || isPort) expect(readConfig({ PORT: text }, "/").port).toBe(Number(text || 8080));
        else
          expect(() => readConfig({ PORT: text }, "/")).toThrow(
            /^configuration: PORT must be a whole number from 1 to 65535$/,
          );
      }),
    );
  });

  test("names the wrong variable in one line, without the value of a URL", () => {
    expect(() => readConfig({ INSPECT: "keys" }, "/")).toThrow(/^configuration: INSPECT must be one of tool-runner, /);
    expect(() => readConfig({ TOPOLOGY: "double" }, "/")).toThrow("TOPOLOGY must be one of single, split");
    const readWrong = () => readConfig({ DATABASE_URL: "mysql://u:secret@localhost" }, "/");
    expect(readWrong).toThrow(/^configuration: DATABASE_URL must begin with postgres:\/\/ or postgresql:\/\/$/);
  });
});
