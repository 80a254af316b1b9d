import { describe, expect, test } from "vitest";
import { faultsOf } from "../src/checks/all.ts";
import { KUBERNETES_VERSIONS, lint, PROFILES, render, whyNoHelm } from "../src/helm.ts";

const missing = await whyNoHelm();

describe.runIf(missing === undefined).each(PROFILES)("profile %s", (profile) => {
  test("helm lint has nothing to say", async () => {
    await lint(profile);
  });

  test.each(KUBERNETES_VERSIONS)("what it renders for Kubernetes %s is right", async (version) => {
    const rendered = await render(profile, { version });
    expect(rendered.manifests.length).toBeGreaterThan(5);
    expect(await faultsOf(rendered)).toEqual([]);
  });

  test("it renders the same twice", async () => {
    expect(await render(profile)).toEqual(await render(profile));
  });
});

if (missing !== undefined) test.skip(`not run: checks of the chart (${missing})`, () => {});
