/* Passes the options in a form to the browser's WebAuthn functions and submits the form with the response. */
(() => {
  "use strict";
  const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const decodeIds = (list = []) => list.map((each) => ({ ...each, id: decode(each.id) }));

  async function ask(kind, options) {
    const publicKey = { ...options, challenge: decode(options.challenge) };
    if (kind === "create") {
      publicKey.user = { ...options.user, id: decode(options.user.id) };
      publicKey.excludeCredentials = decodeIds(options.excludeCredentials);
      return navigator.credentials.create({ publicKey });
    }
    publicKey.allowCredentials = decodeIds(options.allowCredentials);
    return navigator.credentials.get({ publicKey });
  }

  function describe(credential) {
    const response = { clientDataJSON: encode(credential.response.clientDataJSON) };
    for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = encode(credential.response[name]);
    }
    return JSON.stringify({ id: credential.id, rawId: encode(credential.rawId), type: credential.type, response });
  }

  const messages = {
    InvalidStateError: "This device already has a passkey for your account.",
    NotAllowedError: "The passkey was cancelled or took too long. Try again.",
  };

  document.querySelectorAll("form[data-passkey]").forEach((form) => {
    const field = form.querySelector("[data-options]");
    const line = form.querySelector("[data-passkey-error]");
    if (!window.PublicKeyCredential) {
      line.textContent = "This browser does not support passkeys.";
      line.hidden = false;
      form.querySelector("button").disabled = true;
      return;
    }
    form.addEventListener("submit", async (event) => {
      if (field.value) return;
      event.preventDefault();
      line.hidden = true;
      try {
        field.value = describe(await ask(form.dataset.passkey, JSON.parse(field.dataset.options)));
        form.submit();
      } catch (error) {
        line.textContent = messages[error.name] || "The passkey could not be used. Try again.";
        line.hidden = false;
      }
    });
  });
})();
