const reason = context.providerResponse.finishReason;
if (!reason) throw new Error('the target does not report why its model stopped');
const fits = String(context.config.value ?? '').toLowerCase() === String(reason).toLowerCase();
return verdict(fits, `the reason is "${reason}"`);
