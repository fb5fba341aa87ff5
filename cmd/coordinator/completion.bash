# Completion of coordinator for bash. It asks the program what may follow.
_coordinator() {
  local line quote='%s' current=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  [ "$current" != '=' ] || current=''
  while IFS= read -r line; do
    if [ "$line" = ':file' ]; then
      # A name may hold $(…). bash quotes it if it is told that it is a file's; the bash of macOS cannot be told.
      compopt -o filenames 2>/dev/null || quote='%q'
      while IFS= read -r line; do
        printf -v line "$quote" "$line"
        COMPREPLY+=("$line")
      done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _coordinator coordinator
