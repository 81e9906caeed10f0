"""What every other room uses and none of them owns: words, text, files, log, public names looked up on first use."""
