const element = /<(html|head|body|div|span|p|a|ul|ol|li|table|h[1-6]|section|article|main|form|img|button|svg|pre|code|b|i|em|strong|br|hr|input)\b[^<>]*>/i;
return verdict(element.test(String(output)), element.test(String(output)) ? 'found an element' : 'no HTML in the answer');
