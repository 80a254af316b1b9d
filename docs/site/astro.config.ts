import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import linksValidator from "starlight-links-validator";

export default defineConfig({
  base: "/docs",
  outDir: "built",
  integrations: [
    starlight({
      title: "Toolgate",
      plugins: [linksValidator()],
      sidebar: [
        { label: "Start", items: ["first-steps"] },
        { label: "Use from outside", items: ["callers", "chat", "hooks", "receivers", "events"] },
        { label: "Run a workspace", items: ["admins", "tools", "models"] },
        {
          label: "Run an installation",
          items: [
            "operators",
            "kubernetes",
            "compose",
            "backup",
            "observability",
            { label: "Runbooks", items: [{ autogenerate: { directory: "runbooks" } }] },
            "security",
            "changelog",
          ],
        },
        {
          label: "Develop Toolgate",
          items: ["architecture", "extending", "testing", "style", "glossary", "requirements", "bench/results"],
        },
      ],
    }),
  ],
});
