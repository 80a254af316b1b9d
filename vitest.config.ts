import { defineConfig } from "vitest/config";

/** What takes long, run by `make verify`: docs/testing.md says what each part proves. */
const VERIFY = [
  "deploy/installation/test/{attacks,clients,faults,image,recovery,rollouts}/**/*.test.ts",
  "deploy/installation/test/chat/faults/*.test.ts",
  "deploy/installation/test/console/{every-page,runs,secrets}.test.ts",
  "deploy/installation/test/console/{tools/tools-editor,webhooks/{endpoint-health,hook-log,undelivered}}.test.ts",
  "deploy/installation/test/{docs-site,overview-cost,logins/encrypted-servers,taken-port,bad-input/{boundary-values,random-input},compose/programs}.test.ts",
  "packages/{local-servers/test/*,event-bus/test/stream-replicas}.test.ts",
  "services/sandbox/test/{attacks,remote}/**/*.test.ts",
  "services/*/test/**/{faults,platform-faults,killed-*,takeover,cost,statement-cost,indexed-status}.test.ts",
];
const isVerify = process.env.VERIFY === "1";

export default defineConfig({
  test: {
    include: isVerify ? VERIFY : ["{packages,services,deploy,bench}/**/*.test.ts"],
    // Those in deploy/cluster need a control plane and have a configuration of their own.
    exclude: ["**/node_modules/**", ".tools/**", ".data/**", "deploy/cluster/**", ...(isVerify ? [] : VERIFY)],
    pool: "forks",
    // The files of a worker share their modules, which Node itself loads and keeps compiled.
    isolate: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Most of a test's time is waiting for servers; more than this and their deadlines are missed on two cores.
    // Faults and attacks are counted under load, so they run one after the other.
    maxWorkers: isVerify ? 1 : 4,
    setupFiles: ["packages/testbed/src/property-seed.ts"],
    globalSetup: ["packages/testbed/src/global-setup.ts"],
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 400_000,
    hookTimeout: 400_000,
  },
});
