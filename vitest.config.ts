import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/**/*.test.ts", "services/**/*.test.ts", "deploy/**/*.test.ts", "bench/**/*.test.ts"],
    // Those in deploy/cluster need a control plane: make cluster.
    exclude: ["**/node_modules/**", ".tools/**", ".data/**", "deploy/cluster/**"],
    pool: "forks",
    // Most of a test's time is waiting for servers; more than this and their deadlines are missed on two cores.
    maxWorkers: 3,
    setupFiles: ["packages/testbed/src/property-seed.ts"],
    globalSetup: ["packages/testbed/src/global-setup.ts"],
    testTimeout: 400_000,
    hookTimeout: 400_000,
  },
});
