# What Doxygen reads of a header: in its comments, lines that are aligned (parameters, `Throws ...`) stay as they
# are, one under the other.
# And metrics.def, which is read as a list, stands there as one.
function leave() { if (inside) print indent "/// \\endcode"; inside = 0 }
/#(define|undef) KITH_(METRIC|PREPARED|SUMS)/ {
  kind = /KITH_METRIC/ ? "KITH_METRIC" : /KITH_PREPARED/ ? "KITH_PREPARED" : "KITH_SUMS"
  listed[kind] = /id,$/
  if (listed[kind]) prefix = /Metric::id/ ? "Metric::" : ""
  next
}
/#include "kith\/metrics\.def"/ {
  while ((getline line < metrics) > 0)
    if (match(line, /^KITH_[A-Z]+\(/) && listed[substr(line, 1, RLENGTH - 1)]) {
      line = substr(line, RLENGTH + 1)
      sub(/,.*/, "", line)
      print "  " prefix line ","
    }
  close(metrics)
  next
}
{
  is_comment = match($0, /^ *\/\/\/( |$)/)
  text = is_comment ? substr($0, RLENGTH + 1) : ""
  aligned = is_comment && (text ~ /^  +[^ ]/ || text ~ /^Throws /)
  if (aligned && !inside) {
    indent = $0
    sub(/\/\/\/.*/, "", indent)
    print indent "/// \\code{.unparsed}"
    inside = 1
  } else if (!aligned) {
    leave()
  }
  print
}
