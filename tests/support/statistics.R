# Answers lines of `NAME NUMBER...` with lines of numbers, computed by R and its package limma.

suppressPackageStartupMessages(library(limma))

sides <- function(values) {
  base <- seq_len(values[1])
  list(base = values[-1][base], new = values[-1][-base])
}

answers <- list(
  normal_upper_quantile = function(x) qnorm(x, lower.tail = FALSE),
  student_two_sided = function(x) 2 * pt(x[1], x[2], lower.tail = FALSE),
  student_upper_quantile = function(x) qt(x[1], x[2], lower.tail = FALSE),
  fisher_above = function(x) pf(x[1], x[2], x[3], lower.tail = FALSE),
  binomial_interval = function(x) binom.test(x[1], x[2], conf.level = 1 - x[3])$conf.int,
  false_discovery_rates = function(p) p.adjust(p, "BH"),
  holm = function(p) p.adjust(p, "holm"),
  # Degrees of freedom and scale of the prior, then the variances.
  squeeze = function(values) {
    # It warns of variances that are 0.
    squeezed <- suppressWarnings(squeezeVar(values[-1], values[1]))
    c(squeezed$df.prior, squeezed$var.prior, squeezed$var.post)
  },
  # The two sides' runs, then the logarithms of one function after another: probabilities and degrees of freedom.
  moderated = function(values) {
    new <- rep(c(0, 1), values[1:2])
    fit <- eBayes(lmFit(matrix(values[-(1:2)], ncol = length(new), byrow = TRUE), cbind(1, new)))
    c(fit$p.value[, 2], fit$df.total)
  },
  # One minus the level, how many are of base, then the values: the estimate and its interval.
  shift = function(values) {
    sides <- sides(values[-1])
    test <- wilcox.test(sides$new, sides$base, conf.int = TRUE, conf.level = 1 - values[1], exact = TRUE)
    c(test$estimate, test$conf.int)
  },
  pooled_test = function(values) {
    sides <- sides(values)
    t.test(sides$new, sides$base, var.equal = TRUE)$p.value
  },
  welch = function(values) {
    sides <- sides(values)
    t.test(sides$new, sides$base)$p.value
  }
)

for (line in readLines("stdin")) {
  words <- strsplit(line, " ")[[1]]
  cat(sprintf("%.17g", answers[[words[1]]](as.numeric(words[-1]))), "\n")
}
