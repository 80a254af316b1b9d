import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["test/**/*.test.ts"],
    // All files use the same control plane.
    fileParallelism: false,
    globalSetup: ["test/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
