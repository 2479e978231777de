#!/bin/sh
# The bad example: curl in a loop, with retries, redirects that keep the key, and whatever came taken for an answer.
history=""
while IFS= read -r prompt; do
    history="$history${history:+,}{\"role\":\"user\",\"content\":\"$prompt\"}"
    answer=$(curl -s --location-trusted --retry 8 --retry-all-errors --retry-delay 1 --fail-with-body \
        "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" -H "Content-Type: application/json" \
        -d "{\"model\":\"gpt-4.1\",\"messages\":[$history]}")
    text=$(printf '%s' "$answer" | sed -n 's/.*"content":"\([^"]*\)".*/\1/p;s/.*"message":"\([^"]*\)".*/Error: \1/p' | head -1)
    history="$history,{\"role\":\"assistant\",\"content\":\"$text\"}"
    printf '%s\n' "$text"
done
