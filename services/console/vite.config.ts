import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  base: "/manage/",
  plugins: [react()],
  build: {
    outDir: "built",
    manifest: "manifest.json",
    // Only what a list needs is loaded with the first page; the policy for images forbids data URLs of files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2024",
    reportCompressedSize: false,
  },
});
