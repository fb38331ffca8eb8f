// Preloaded by `node --require`: whatever listens in this process listens on 127.0.0.1 and nowhere else.
const net = require("node:net");
const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (first, ...others) {
  if (typeof first === "object" && first !== null) {
    return listen.call(this, { ...first, host: "127.0.0.1" }, ...others);
  }
  const rest = typeof others[0] === "string" ? others.slice(1) : others;
  return listen.call(this, first, "127.0.0.1", ...rest);
};
