// Preloaded into every service process: when the process that supervises it dies, even by SIGKILL, the channel closes
// and the service drains as it does on SIGTERM, so that no service outlives its supervisor.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
