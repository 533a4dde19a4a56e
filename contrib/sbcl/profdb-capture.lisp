;;;; Writes what SBCL's statistical profiler (contrib sb-sprof) has recorded as an Apple Sampler file, which profdb reads.
;;;;
;;;;   (load "profdb-capture.lisp")
;;;;   (profdb-capture:with-capture ("run.trace" :mode :cpu) (main))
;;;;
;;;; or, after a profiling of your own, (profdb-capture:write-trace "run.trace"). Then `profdb import run.trace`.
;;;;
;;;; Needs SBCL 2.1.2 or later, where samples know their thread; tried with 2.2.9. What it relies on, beside exported names:
;;;; SB-SPROF::MAP-TRACE-PC-LOCS walks a trace from the outermost frame to the innermost; SB-SPROF::MAKE-NODE gives the
;;;; name that the profiler's own report prints for a frame.
;;;;
;;;; Reference: "Apple's Sampler file format, and SBCL SB-SPROF report generation", kpreid, 2008.

(require :sb-sprof)

(defpackage :profdb-capture
  (:use :cl)
  (:export #:with-capture #:write-trace))

(in-package :profdb-capture)

(defconstant +first-frame+ #x10000
  "The number of the first function. Smaller ones are those of threads.")

;;; Names

(defun name-of (info)
  "A frame's name as the profiler's report prints it."
  (if (null info)
      "(no debug info)"
      (printed (sb-sprof::node-name (sb-sprof::make-node info)))))

(defun printed (name)
  (let ((*package* (find-package "COMMON-LISP-USER")) (*print-pretty* nil) (*print-circle* nil))
    (if (stringp name) name (prin1-to-string name))))

(defun file-of (info)
  "The source file of a frame's function, or NIL."
  (when (typep info 'sb-di::compiled-debug-fun)
    (let* ((code (sb-di::compiled-debug-fun-component info))
           (debug-info (sb-kernel:%code-debug-info code)))
      (when (typep debug-info 'sb-c::debug-info)
        (sb-c::debug-source-namestring (sb-c::debug-info-source debug-info))))))

(defun thread-name (thread number)
  "The thread's own name; threads without one, and others of its name, go by their numbers."
  (let ((name (if (typep thread 'sb-thread:thread) (sb-thread:thread-name thread) nil)))
    (cond ((null name) (format nil "Thread_~4,'0X" number))
          ((stringp name) (format nil "~A (~D)" name number))
          (t (format nil "~A (~D)" (printed name) number)))))

(defun entries (table)
  (let ((entries '()))
    (maphash (lambda (key value) (push (cons key value) entries)) table)
    entries))

;;; Bytes

(defun put-text (text out)
  (write-sequence (sb-ext:string-to-octets text :external-format :utf-8) out))

(defun put-line (text out)
  (put-text text out)
  (write-byte 10 out))

(defun put-number (number out)
  (loop for shift in '(24 16 8 0)
        do (write-byte (ldb (byte 8 shift) number) out)))

(defun put-symbol (number name file out)
  (flet ((one-line (text)
           (substitute-if #\Space (lambda (character) (find character '(#\Newline #\Tab))) text)))
    (write-byte 9 out)
    (put-number number out)
    (write-byte 9 out)
    (put-number 0 out)
    (let ((file (if file (one-line file) "NIL")))
      (put-line (format nil "~C~A~C~A~C~A" #\Tab (one-line name) #\Tab file #\Tab file) out))))

(defun put-sample (frames out)
  (write-byte 9 out)
  (dolist (number (list 1 0 1 (length frames)))
    (put-number number out))
  (dolist (frame frames)
    (put-number frame out))
  (write-byte 10 out))

;;; Capture

(defmacro with-capture ((path &rest options) &body body)
  "Runs BODY under the profiler and writes the samples to the file PATH. OPTIONS are those of SB-SPROF:WITH-PROFILING, such
as :MODE (:CPU, :ALLOC, :TIME), :SAMPLE-INTERVAL in seconds and :MAX-SAMPLES; all threads are profiled unless :THREADS says
otherwise. Gives back the values of BODY."
  `(multiple-value-prog1
       (sb-sprof:with-profiling (:reset t ,@options ,@(unless (getf options :threads) '(:threads :all))) ,@body)
     (write-trace ,path)))

(defun write-trace (path)
  "Writes the samples that the profiler holds to the file PATH. Gives back how many there are."
  ;; The profiler keeps raw buffers until a report asks for them.
  (sb-sprof:report :type nil :stream (make-broadcast-stream))
  (let ((names (make-hash-table :test 'equal))
        (infos (make-hash-table :test 'eq))
        (threads '())
        (samples (make-hash-table :test 'eq))
        (count 0))
    (labels ((number-of (info)
               (or (gethash info infos)
                   (setf (gethash info infos)
                         (let ((symbol (list (name-of info) (file-of info))))
                           (or (gethash symbol names)
                               (setf (gethash symbol names) (+ +first-frame+ (hash-table-count names)))))))))
      (when sb-sprof::*samples*
        (sb-sprof:map-traces
         (lambda (thread trace)
           (unless (nth-value 1 (gethash thread samples))
             (push thread threads))
           (let ((frames '()))
             ;; The outermost frame comes first, and the file wants the innermost there.
             (sb-sprof::map-trace-pc-locs
              (lambda (info pc)
                (declare (ignore pc))
                (push (number-of info) frames))
              trace)
             (incf count)
             (push frames (gethash thread samples))))
         sb-sprof::*samples*)))
    (with-open-file (out path :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
      (put-line "@supersamplerV1.0" out)
      (put-line "@symboltableV1.1" out)
      (setf threads (nreverse threads))
      (loop for thread in threads for number from 1
            do (put-symbol number (thread-name thread number) nil out))
      (loop for ((name file) . number) in (sort (entries names) #'< :key #'cdr)
            do (put-symbol number name file out))
      (put-line "@end" out)
      (loop for thread in threads for number from 1
            do (put-line (format nil "@threadV1.0~C~4,'0X" #\Tab number) out)
               (dolist (frames (nreverse (gethash thread samples)))
                 (put-sample frames out))
               (put-line "@end" out)))
    count))
