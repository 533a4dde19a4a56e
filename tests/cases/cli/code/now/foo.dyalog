∇foo;n
n←1000
#.NS1.goo¨n⍴n
∇
