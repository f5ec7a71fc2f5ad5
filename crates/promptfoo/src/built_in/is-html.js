const text = String(output).trim();
const known = /^<(!doctype html|html|head|body|div|span|p|a|ul|ol|li|table|h[1-6]|section|article|main|header|footer|nav|form|img|button|svg|pre|code|b|i|em|strong|br|hr|input)\b/i;
return verdict(known.test(text) && text.endsWith('>'), known.test(text) ? 'begins with an element' : 'no HTML');
