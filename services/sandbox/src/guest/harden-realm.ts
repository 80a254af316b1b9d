/**
 * Runs inside a fresh isolate, before any tool code: removes everything that could carry state from one run to the next
 * or block a thread, then freezes every intrinsic. It is passed in as text (`hardenRealm.toString()`), so it may use
 * nothing from outside its braces.
 */
export function hardenRealm(): void {
  const realm = globalThis as unknown as Record<string, unknown>;
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { construct, ownKeys } = Reflect;
  const isObject = (value: unknown): value is object =>
    typeof value === "function" || (typeof value === "object" && value !== null);

  for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef", "console"]) {
    delete realm[name];
  }
  // RegExp keeps the last match of any run in these, so they would leak one caller's data to the next.
  for (const key of ownKeys(RegExp)) {
    const legacy = /^(\$.|input|lastMatch|lastParen|leftContext|rightContext)$/u;
    if (typeof key === "string" && legacy.test(key)) delete (RegExp as unknown as Record<string, unknown>)[key];
  }

  // The engine counts buffers towards an isolate's memory when they are created, but not when they grow.
  const NativeBuffer = ArrayBuffer;
  const FixedBuffer = function (length?: number): object {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'");
    return construct(NativeBuffer, [length], new.target);
  };
  for (const key of ["isView", Symbol.species]) {
    defineProperty(FixedBuffer, key, getOwnPropertyDescriptor(NativeBuffer, key) as PropertyDescriptor);
  }
  defineProperty(FixedBuffer, "name", { value: "ArrayBuffer" });
  defineProperty(FixedBuffer, "prototype", { value: NativeBuffer.prototype, writable: false });
  defineProperty(NativeBuffer.prototype, "constructor", { value: FixedBuffer });
  defineProperty(realm, "ArrayBuffer", { value: FixedBuffer });
  for (const name of ["resize", "transfer", "transferToFixedLength"]) {
    delete (NativeBuffer.prototype as unknown as Record<string, unknown>)[name];
  }

  const pending: unknown[] = [realm];
  const seen = new Set<object>();
  const reach = (value: unknown) => {
    if (isObject(value) && !seen.has(value)) {
      seen.add(value);
      pending.push(value);
    }
  };

  // A frozen prototype forbids plain assignment of the same name on every object below it. An accessor lets
  // `error.name = "X"` or `Point.prototype.toString = …` make an own property, as in an unfrozen realm.
  const allowOverride = (prototype: object, keys: readonly PropertyKey[]) => {
    for (const key of keys) {
      const found = getOwnPropertyDescriptor(prototype, key);
      if (found === undefined || !("value" in found) || !found.configurable) continue;
      const inherited = found.value as unknown;
      reach(inherited);
      defineProperty(prototype, key, {
        configurable: false,
        enumerable: false,
        get: () => inherited,
        set(this: unknown, value: unknown) {
          if (this === prototype || !isObject(this)) throw new TypeError(`Cannot assign to "${String(key)}"`);
          defineProperty(this, key, { value, configurable: true, enumerable: true, writable: true });
        },
      });
    }
  };
  const errorKeys = ["constructor", "name", "message", "toString"];
  for (const name of ownKeys(realm)) {
    const value = realm[name as string];
    if (typeof value !== "function" || !isObject(value.prototype)) continue;
    if (value === Error || getPrototypeOf(value) === Error) allowOverride(value.prototype, errorKeys);
  }
  allowOverride(Object.prototype, ownKeys(Object.prototype));
  allowOverride(Function.prototype, ["constructor", "toString", "bind", "call", "apply"]);
  allowOverride(Date.prototype, ["constructor", "toString", "toJSON", "valueOf"]);
  allowOverride(Map.prototype, ["constructor", "get", "set", "has", "toString"]);

  const segments = new Intl.Segmenter().segment("a");
  const iterators: unknown[] = [[].values()];
  const unnamed: unknown[] = [
    function* () {},
    async () => {},
    async function* () {},
    (function* () {})(),
    (async function* () {})(),
    [][Symbol.iterator](),
    ""[Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    "a".matchAll(/a/gu),
    (iterators[0] as { map: (step: unknown) => unknown }).map(() => 0),
    (realm.Iterator as { from: (source: unknown) => unknown }).from({ next: () => ({ done: true }) }),
    segments,
    segments[Symbol.iterator](),
    getOwnPropertyDescriptor(
      (function () {
        // biome-ignore lint/complexity/noArguments: the strict arguments object carries %ThrowTypeError%
        return arguments;
      })(),
      "callee",
    )?.get,
  ];
  for (const value of unnamed) reach(value);
  while (pending.length > 0) {
    const value = pending.pop() as object;
    freeze(value);
    reach(getPrototypeOf(value));
    for (const key of ownKeys(value)) {
      const found = getOwnPropertyDescriptor(value, key);
      if (found === undefined) continue;
      if ("value" in found) reach(found.value);
      reach(found.get);
      reach(found.set);
    }
  }
}
