# Reads numbers of runs of base and new, then a line of counts for each function; answers with a line for each: probability, false
# discovery rate and binary logarithm of the ratio, by the quasi-likelihood test of edgeR.

suppressPackageStartupMessages(library(edgeR))

lines <- strsplit(readLines("stdin"), " ")
runs <- as.integer(lines[[1]])
counts <- do.call(rbind, lapply(lines[-1], as.numeric))
side <- factor(rep(c("base", "new"), runs))
design <- model.matrix(~side)
# Runs are compared as they are, not divided by their totals.
data <- DGEList(counts, group = side, lib.size = rep(1e6, ncol(counts)))
fit <- glmQLFit(estimateDisp(data, design), design)
table <- glmQLFTest(fit, coef = 2)$table
cat(sprintf("%.17g %.17g %.17g\n", table$PValue, p.adjust(table$PValue, "BH"), table$logFC), sep = "")
