/** How a service's config reads the environment: typed values, and one error that lists everything that is wrong. */
export interface EnvReader {
  text(name: string, fallback?: string): string;
  /** Like `text`, for a secret that must be at least `minCharacters` long. */
  secret(name: string, minCharacters: number): string;
  /** A whole number within the bounds (inclusive). */
  integer(name: string, bounds: { fallback?: number; min: number; max: number }): number;
  /** "true" or "false". */
  flag(name: string, fallback: boolean): boolean;
  /** Comma-separated; empty when unset. */
  list(name: string): string[];
  /** Base URLs of servers, separated by commas, unchanged. */
  baseUrls(name: string, fallback?: string): string;
  /** Adds a violation that concerns several variables. */
  fail(violation: string): void;
  /** One of the choices. */
  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T;
}

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Runs `read` over the environment. Throws one error that names every missing or malformed variable, and never a
 * value.
 */
export function readConfig<T>(env: Env, read: (reader: EnvReader) => T): T {
  const violations: string[] = [];
  const config = read(createReader(env, violations));
  if (violations.length > 0) throw new Error(`configuration: ${violations.join("; ")}`);
  return config;
}

/** Runs every reader over the environment. Throws one error that names what is wrong in any of them. */
export function readAll<T extends readonly unknown[]>(
  env: Env,
  readers: { readonly [Index in keyof T]: (env: Env) => T[Index] },
): T {
  const violations: string[] = [];
  const values = readers.map((read) => {
    try {
      return read(env);
    } catch (error) {
      violations.push((error as Error).message.replace(/^configuration: /, ""));
      return undefined;
    }
  });
  if (violations.length > 0) throw new Error(`configuration: ${violations.join("; ")}`);
  return values as unknown as T;
}

const BASE_URL = /^https?:$/;

function createReader(env: Env, violations: string[]): EnvReader {
  const read = (name: string) => (env[name] === "" ? undefined : env[name]);
  function text(name: string, fallback?: string): string {
    const value = read(name) ?? fallback;
    if (value === undefined) violations.push(`${name} is missing`);
    return value ?? "";
  }
  return {
    text,
    secret(name, minCharacters) {
      const value = text(name);
      if (value !== "" && value.length < minCharacters)
        violations.push(`${name} must have at least ${minCharacters} characters`);
      return value;
    },
    fail: (violation) => void violations.push(violation),
    baseUrls(name, fallback) {
      const value = text(name, fallback);
      const valid = value.split(",").every((url) => BASE_URL.test(URL.parse(url.trim())?.protocol ?? ""));
      if (value !== "" && !valid) violations.push(`${name} must be http or https URLs, separated by commas`);
      return value;
    },
    integer(name, { fallback, min, max }) {
      const value = read(name);
      if (value === undefined && fallback !== undefined) return fallback;
      const number = Number(value);
      const valid = value !== undefined && /^-?\d+$/.test(value) && number >= min && number <= max;
      if (!valid) violations.push(`${name} must be a whole number from ${min} to ${max}`);
      return number;
    },
    flag(name, fallback) {
      const value = read(name);
      if (value !== undefined && value !== "true" && value !== "false")
        violations.push(`${name} must be true or false`);
      return value === undefined ? fallback : value === "true";
    },
    list(name) {
      const value = read(name);
      return value === undefined
        ? []
        : value
            .split(",")
            .map((part) => part.trim())
            .filter((part) => part !== "");
    },
    choice(name, choices, fallback) {
      const value = read(name) ?? fallback;
      const found = choices.find((choice) => choice === value);
      if (!found) violations.push(`${name} must be one of ${choices.join(", ")}`);
      return found ?? fallback;
    },
  };
}
