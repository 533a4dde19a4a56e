# encoding: utf-8
require 'json'
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
def even(n) = n == 0 ? true : odd(n - 1)
def odd(n) = n == 0 ? false : even(n - 1)
class Baum
  def initialize(w) = (@w = w; @l = @r = nil)
  def größe = 1 + [@l, @r].compact.sum(&:größe)
  def einfügen(w)
    if w < @w
      @l ? @l.einfügen(w) : @l = Baum.new(w)
    else
      @r ? @r.einfügen(w) : @r = Baum.new(w)
    end
  end
end
def baum(n)
  rnd = Random.new(1)
  b = Baum.new(500)
  n.times { b.einfügen(rnd.rand(1000)) }
  b.größe
end
def text
  (1..30).map { |i| JSON.generate((1..i).to_h { |k| [k, "x" * k] }) }.sort_by(&:size).sum(&:size)
end
def worker
  3.times { fib(8) }
  even(20)
end
def main
  t = Thread.new { worker }
  baum(60)
  worker
  text
  t.join
end
