:Namespace Shop
⍝ Everything about the shop
    ∇ Main;file
      file←'prices { ⍝ not a comment'
      Load file
      totals←⍬
      Price¨⍳20
      #.Tree.Walk 5
      OnTimer¨⍳5
      #.Num.Even 8
    ∇

    ∇ r←Load file;rows
      rows←⊃⎕NGET file 1
      :For row :In rows
          #.Util.fmt∆Num row
      :EndFor
    ∇

    ∇ {r}←{opts}Price n
      r←#.Util.fmt∆Num n
      r←r,n
      totals,←r
    ∇

    ∇ OnTimer;t
      t←#.Util.fmt∆Num 7
      #.Tree.Walk 1
    ∇
:EndNamespace
