;;;; usage: sbcl --script workload.lisp CAPTURE FOLDER
;;;;
;;;; Profiles a small program, once by time and once by allocation, with the capture kit CAPTURE. Writes cpu.trace and
;;;; alloc.trace into FOLDER, and beside each what the profiler itself reports of the same samples: cpu.flat, alloc.flat.

(load (second sb-ext:*posix-argv*))

(defpackage :shop (:use :cl) (:export #:open-shop))
(in-package :shop)

(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(defun ping (n sum) (if (zerop n) sum (pong (1- n) (+ sum (fib 12)))))
(defun pong (n sum) (if (zerop n) sum (ping (1- n) (+ sum (fib 13)))))

(defgeneric price (thing))
(defmethod price ((thing integer)) (loop for i below 2000 sum (mod (* i thing) 7)))
(defmethod price ((thing string)) (reduce #'+ (map 'list #'char-code thing)))

(defun |Report\|Top;Words "v2"| (words)
  (let ((table (make-hash-table :test 'equal)))
    (dolist (word words table)
      (incf (gethash (string-upcase word) table 0)))))

(defun λ-mix (n)
  (labels ((quick (list)
             (if (null list)
                 '()
                 (let ((first (car list)))
                   (append (quick (remove-if-not (lambda (x) (< x first)) (cdr list)))
                           (list first)
                           (quick (remove-if (lambda (x) (< x first)) (cdr list))))))))
    (quick (loop for i below n collect (mod (* i 7919) 104729)))))

(defun open-shop (rounds)
  (loop repeat rounds
        do (fib 24)
           (ping 60 0)
           (loop for i below 300 do (price i) (price "a name of some length"))
           (|Report\|Top;Words "v2"| (loop for i below 3000 collect (format nil "word ~D" (mod i 97))))
           (λ-mix 2500)))

(defun in-two-threads (rounds)
  (let ((other (sb-thread:make-thread (lambda () (open-shop rounds)) :name "clerk \"2\"")))
    (open-shop rounds)
    (sb-thread:join-thread other)))

(in-package :cl-user)

(defun record (mode rounds folder &rest options)
  (let ((name (string-downcase mode)))
    (flet ((path (type) (concatenate 'string folder "/" name "." type)))
      (eval `(profdb-capture:with-capture (,(path "trace") :mode ,mode :max-samples 100000 ,@options)
               (shop::in-two-threads ,rounds)))
      (with-open-file (*standard-output* (path "flat") :direction :output :if-exists :supersede :external-format :utf-8)
        (sb-sprof:report :type :flat)))))

(let ((folder (third sb-ext:*posix-argv*)))
  (record :cpu 60 folder :sample-interval 0.001)
  (record :alloc 6 folder))
