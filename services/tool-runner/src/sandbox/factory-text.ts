/** The name under which a tool's source shows up in stack traces. */
export const SOURCE_NAME = "tool.js";

/** On the first line of the source, so that lines stay as written; the child shifts the columns of that line back. */
export const FACTORY_HEAD = '(function(console){return(function(){"use strict";';
export const FACTORY_TAIL = "})();})";
